//! What adapters expect to find on their target, for a target that begins empty.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use hyperfleet_transport::{KubernetesConfig, KubernetesTransport, Mode, Transport};
use serde::Deserialize;
use serde_json::Value;

/// Applies every document of `platform/*.yaml` beside the adapters.
pub(crate) async fn install(adapters: &Path, kubeconfig: &Path) -> Result<()> {
    let documents = read(&adapters.join("platform"))?;
    if documents.is_empty() {
        return Ok(());
    }
    let config = KubernetesConfig::new("hyperfleet-up").with_kube_config(kubeconfig);
    let transport = KubernetesTransport::connect(config).await?;
    for (file, document) in documents {
        let applied = transport.apply(&document, Mode::Commit).await;
        applied.with_context(|| format!("cannot install {}", file.display()))?;
    }
    Ok(())
}

/// All documents in the order of the files' names; none if there is no such directory.
fn read(directory: &Path) -> Result<Vec<(PathBuf, Value)>> {
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let unreadable = || format!("cannot read {}", directory.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).with_context(unreadable)? {
        let file = entry.with_context(unreadable)?.path();
        if file.extension().is_some_and(|ending| ending == "yaml") {
            files.push(file);
        }
    }
    files.sort();
    let mut documents = Vec::new();
    for file in files {
        let problem = || format!("cannot read {}", file.display());
        let text = std::fs::read_to_string(&file).with_context(problem)?;
        for document in serde_yaml_ng::Deserializer::from_str(&text) {
            let document = Value::deserialize(document).with_context(problem)?;
            if !document.is_null() {
                documents.push((file.clone(), document));
            }
        }
    }
    Ok(documents)
}

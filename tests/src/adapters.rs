//! The shipped adapters, copied, with one thing added: a cluster's spec can say how its Jobs turn out.
//!
//! `spec.simulate.<adapter>.outcome` (`succeed`, `fail`, `hang`) and `.message` become the annotations that kubesim, and
//! the kubelet this crate plays, obey. Nothing else differs from what is shipped.

use std::path::Path;

use anyhow::{Context, Result};

use crate::root;

/// Those that run Jobs, and whose spec steers them.
const WITH_JOBS: [(&str, &str); 4] = [
    ("dns", "cluster"),
    ("nodepool-validation", "nodepool"),
    ("placement", "cluster"),
    ("validation", "cluster"),
];

/// For clusters, then for node pools.
pub const OF_CLUSTERS: [&str; 6] = [
    "landing-zone",
    "validation",
    "placement",
    "pull-secret",
    "dns",
    "control-plane",
];
pub const OF_NODE_POOLS: [&str; 2] = ["nodepool-validation", "nodepool"];

/// Copies all adapters, and the platform they expect, to `target`.
pub fn copy_to(target: &Path) -> Result<()> {
    let shipped = root().join("adapters");
    for home in OF_CLUSTERS
        .iter()
        .chain(&OF_NODE_POOLS)
        .chain(&["platform"])
    {
        let (from, to) = (shipped.join(home), target.join(home));
        std::fs::create_dir_all(&to)?;
        for entry in std::fs::read_dir(&from).with_context(|| from.display().to_string())? {
            let file = entry?.path();
            if let Some(name) = file.file_name().filter(|_| file.is_file()) {
                std::fs::copy(&file, to.join(name))?;
            }
        }
    }
    for (adapter, resource) in WITH_JOBS {
        steer(&target.join(adapter), adapter, resource)?;
    }
    Ok(())
}

fn steer(home: &Path, adapter: &str, resource: &str) -> Result<()> {
    let params = format!(
        r#"
  - name: simulated
    source:
      expression: '{resource}.?spec.?simulate[?"{adapter}"].orValue({{}})'

  - name: outcome
    source:
      expression: simulated.?outcome.orValue("succeed")

  - name: message
    source:
      expression: simulated.?message.orValue("as it was told")

preconditions:
"#
    );
    edit(
        &home.join("adapter-task-config.yaml"),
        "\npreconditions:\n",
        &params,
    )?;
    let annotations = r#"
  annotations:
    kubesim.hyperfleet.io/outcome: "{{ .outcome }}"
    kubesim.hyperfleet.io/message: {{ .message | quote }}
  labels:
"#;
    edit(&home.join("job.yaml"), "\n  labels:\n", annotations)
}

/// Replaces the first of two texts, which must be there, by the second.
fn edit(file: &Path, from: &str, to: &str) -> Result<()> {
    let text = std::fs::read_to_string(file)?;
    anyhow::ensure!(text.contains(from), "{} has no {from:?}", file.display());
    std::fs::write(file, text.replacen(from, to, 1))?;
    Ok(())
}

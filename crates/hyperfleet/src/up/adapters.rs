//! The adapters of a directory, loaded before anything is started: a mistake in one must not leave half a system.

use std::path::Path;

use anyhow::{Context, Result, bail};
use hyperfleet_adapter::config::{self, Deployment};
use hyperfleet_adapter::task::Task;
use hyperfleet_core::identity::AdapterName;
use hyperfleet_core::kind::Kind;

use crate::commands::adapter::load_task;

const DEPLOYMENT: &str = "adapter-config.yaml";
const TASK: &str = "adapter-task-config.yaml";

/// An adapter that can be run.
pub(crate) struct Loaded {
    pub(crate) deployment: Deployment,
    pub(crate) task: Task,
}

/// Every directory that holds an adapter, in the order of their names.
pub(crate) fn load(directory: &Path) -> Result<Vec<Loaded>> {
    let listed = std::fs::read_dir(directory).with_context(|| {
        format!(
            "cannot read the adapters in {}; name their directory with --adapters",
            directory.display()
        )
    })?;
    let mut homes = Vec::new();
    for entry in listed {
        let home = entry?.path();
        if home.join(TASK).is_file() {
            homes.push(home);
        }
    }
    homes.sort();
    if homes.is_empty() {
        bail!(
            "{} holds no adapter: a directory with {DEPLOYMENT} and {TASK}; name another with --adapters",
            directory.display()
        );
    }
    homes
        .iter()
        .map(|home| {
            // The files alone: variables meant for one adapter must not reach all of them.
            let loader = config::deployment_loader(Some(home.join(DEPLOYMENT)));
            Ok(Loaded {
                deployment: config::load_deployment(&loader)?,
                task: load_task(&home.join(TASK))?,
            })
        })
        .collect()
}

/// The topic on which the Sentinel of a kind publishes.
pub(crate) fn topic(kind: &Kind) -> String {
    format!("hyperfleet.{}.changed.v1", kind.plural)
}

/// Every adapter is required for the kind whose topic it listens to.
pub(crate) fn require(kinds: &mut [Kind], adapters: &[Loaded]) -> Result<()> {
    for adapter in adapters {
        let (name, listens) = (
            &adapter.deployment.adapter.name,
            &adapter.deployment.clients.broker.topic,
        );
        let Some(kind) = kinds.iter_mut().find(|kind| topic(kind) == *listens) else {
            let topics: Vec<String> = kinds.iter().map(topic).collect();
            bail!(
                "adapter `{name}` listens to the topic `{listens}`, on which nothing is published here; topics are {}",
                topics.join(", ")
            );
        };
        kind.required_adapters
            .push(AdapterName::try_from(name.as_str())?);
    }
    Ok(())
}

//! Two files become an adapter's configuration: the deployment (who and where) and the task
//! (what). Both are checked as a whole, and every mistake is told at once.
//!
//! ```text
//!  deployment file ──► Loader (flags > environment > file) ──► Deployment
//!  task file ──► dialect (envelope, spelling) ──► params ► preconditions ► resources ► post ──► Task
//!                 every expression, template and path compiled against the names it can see ─┘
//! ```

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hyperfleet_runtime::config::{ConfigError, DEFAULT_PATHS, Loader};
use hyperfleet_source::{Diagnostic, Diagnostics, Node, Severity, SourceFile, yaml};
use hyperfleet_transport::MAESTRO_VARIABLES;
use serde_json::Value as Json;

use crate::task::Task;

mod call;
mod conditions;
mod deployment;
mod discovery;
mod files;
mod held;
mod keys;
mod lifecycle;
mod manifest;
mod names;
mod older;
mod params;
mod paths;
mod post;
mod preconditions;
mod resources;
mod scope;
mod transport;

pub use deployment::{
    ApiAuth, ApiClient, BrokerClient, Clients, Deployment, Identity, KubernetesClient,
    MessageBroker, RetryBackoff,
};
use files::Files;
use hyperfleet_source::fields::{Fields, Found};
pub use keys::FLAGS;
pub(crate) use keys::{LOG_VARIABLES, VARIABLES};
pub use older::{
    Metadata, OlderApi, OlderBroker, OlderIdentity, OlderKubernetes, OlderMessageBroker, Spec,
};
use scope::Scope;

/// Where a task file is named if no flag does.
pub const TASK_VARIABLE: &str = "HYPERFLEET_TASK_CONFIG";

/// Why an adapter cannot be configured.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The deployment file or what overrides it.
    #[error(transparent)]
    Deployment(#[from] ConfigError),
    /// The task file cannot be read.
    #[error("cannot read the task configuration {path}: {source}")]
    Unreadable {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The task file is wrong.
    #[error("{0}")]
    Task(#[from] Diagnostics),
    /// A value is missing or cannot be used.
    #[error("{0}")]
    Invalid(String),
}

/// A loader of the deployment configuration with this component's environment variables; add
/// flags to it, then give it to [`load_deployment`].
pub fn deployment_loader(file: Option<PathBuf>) -> Loader {
    let mut loader = Loader::new("adapter")
        .file(file)
        .file_env("HYPERFLEET_ADAPTER_CONFIG")
        .search(DEFAULT_PATHS);
    let named = VARIABLES.into_iter().chain(MAESTRO_VARIABLES);
    for (name, path) in named.chain(LOG_VARIABLES) {
        loader = loader.env_alias(name, path);
    }
    loader
}

/// Loads and checks the deployment configuration.
pub fn load_deployment(loader: &Loader) -> Result<Deployment, LoadError> {
    let loaded = loader.load::<Deployment>()?;
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
    let mut deployment = loaded.value;
    deployment.adopt_older();
    deployment.check(env!("CARGO_PKG_VERSION"))?;
    Ok(deployment)
}

/// Loads a task configuration. Warnings come with it.
pub fn load_task(path: &Path) -> Result<(Task, Vec<Diagnostic>), LoadError> {
    Ok(parse_task(&read(path)?, path)?)
}

fn read(path: &Path) -> Result<SourceFile, LoadError> {
    let text = std::fs::read_to_string(path).map_err(|source| LoadError::Unreadable {
        path: path.display().to_string(),
        source,
    })?;
    Ok(SourceFile::new(path.display().to_string(), text))
}

/// What an adapter runs with, without secrets: its deployment, and its task as it is written.
pub fn effective(deployment: &Deployment, task: &Path) -> Result<Json, LoadError> {
    let root = yaml::parse(&read(task)?)?;
    let body = unwrapped(&root, &mut Found::new());
    let mut all = deployment.redacted();
    for key in ["params", "preconditions", "resources", "post"] {
        if let Some(written) = body.and_then(|body| body.get(key)) {
            all[key] = written.to_json();
        }
    }
    hyperfleet_runtime::secret::redact(&mut all);
    Ok(all)
}

/// Compiles the text of a task configuration; files it refers to lie beside `path`.
pub fn parse_task(file: &SourceFile, path: &Path) -> Result<(Task, Vec<Diagnostic>), Diagnostics> {
    let root = yaml::parse(file)?;
    let mut found = Found::new();
    let task = task(&root, &Files::beside(path), &mut found);
    let is_error = |finding: &Diagnostic| finding.severity == Severity::Error;
    match (task, found.iter().any(is_error)) {
        (Some(task), false) => Ok((task, found)),
        _ => Err(Diagnostics::from_vec(found)
            .unwrap_or_else(|| root.error("this is no task configuration").into())),
    }
}

fn task(root: &Node, files: &Files, found: &mut Found) -> Option<Task> {
    let body = unwrapped(root, found)?;
    let mut fields = Fields::of(body, "a task configuration", found)?;
    if !std::ptr::eq(body, root) {
        // One file for everything: the rest is the deployment's.
        for key in [
            "adapter",
            "hyperfleet_api",
            "broker",
            "kubernetes",
            "message_broker",
        ] {
            fields.get(key);
        }
    }
    let mut scope = Scope::built_in(resources::names(fields.list("resources", found)));
    let mut environment = BTreeSet::new();
    let items = fields.list("params", found);
    let params = params::params(items, &mut scope, &mut environment, found);
    scope.set_environment(&environment);
    let items = fields.list("preconditions", found);
    let preconditions = preconditions::preconditions(items, &mut scope, found);
    let items = fields.get("resources").and_then(Node::as_sequence);
    let items = items.unwrap_or_default();
    let resources = resources::resources(items, &scope, files, found);
    let post = fields.get("post");
    let post = post.and_then(|node| post::post(node, &scope, files, found));
    fields.finish(found);
    Some(Task {
        params,
        preconditions,
        resources,
        post,
        environment,
    })
}

/// The older files wrap everything in `apiVersion`, `kind`, `metadata` and `spec`.
fn unwrapped<'n>(root: &'n Node, found: &mut Found) -> Option<&'n Node> {
    if root.get("apiVersion").is_none() || root.get("spec").is_none() {
        return Some(root);
    }
    let mut fields = Fields::of(root, "a task configuration", found)?;
    for key in ["apiVersion", "kind", "metadata"] {
        fields.get(key);
    }
    let spec = fields.get("spec");
    fields.finish(found);
    spec
}

impl Deployment {
    /// What no type can say.
    fn check(&self, framework: &str) -> Result<(), LoadError> {
        let invalid = |message: String| Err(LoadError::Invalid(message));
        let name = &self.adapter.name;
        if name.is_empty() {
            return invalid("adapter.name is missing: say how the adapter is called".to_owned());
        }
        if let Some(wrong) = hyperfleet_core::label::value_error(name) {
            return invalid(format!(
                "adapter.name `{name}` cannot be used as a label of objects: {wrong}"
            ));
        }
        let wanted = &self.adapter.version;
        if !same_minor(wanted, framework) {
            return invalid(format!(
                "adapter.version is {wanted}, but this is version {framework}: major and minor \
                 must match; correct it, or leave it empty"
            ));
        }
        let token = &self.clients.hyperfleet_api.auth.token_path;
        if !token.is_empty() && !Path::new(token).is_absolute() {
            return invalid(format!(
                "clients.hyperfleet_api.auth.token_path `{token}` must be an absolute path"
            ));
        }
        let maestro = &self.clients.maestro;
        if maestro.is_configured() {
            maestro.target().map_err(LoadError::Invalid)?;
        }
        Ok(())
    }
}

/// What the task needs of the deployment.
pub fn check_together(deployment: &Deployment, task: &Task) -> Result<(), LoadError> {
    let works = task.resources.iter();
    let work = works.into_iter().find(|one| one.destination.is_maestro());
    match work {
        Some(work) if !deployment.clients.maestro.is_configured() => {
            Err(LoadError::Invalid(format!(
                "resource `{}` goes to Maestro, but the deployment has no clients.maestro: say where it is",
                work.name
            )))
        }
        _ => Ok(()),
    }
}

/// Only two semantic versions can disagree.
fn same_minor(wanted: &str, framework: &str) -> bool {
    let minor = |version: &str| {
        let mut parts = version.trim_start_matches('v').split('.');
        let number = |part: Option<&str>| part?.parse::<u64>().ok();
        Some((number(parts.next())?, number(parts.next())?))
    };
    match (minor(wanted), minor(framework)) {
        (Some(wanted), Some(framework)) => wanted == framework,
        _ => true,
    }
}

#[cfg(test)]
mod tests;

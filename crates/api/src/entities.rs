//! The configured kinds with their schemas, checked as a whole.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperfleet_core::aggregation::Rulebook;
use hyperfleet_core::kind::{Kind, Registry};
use hyperfleet_runtime::config::Loaded;
use hyperfleet_source::{Diagnostic, Diagnostics, Node, Severity, SourceFile, suggest, yaml};

use crate::config::ApiConfig;
use crate::rules::{RulesFile, RulesFileError, RulesInForce};
use crate::schema::{Sources, SpecSchemas};

/// What an API serves.
#[derive(Debug, Clone)]
pub struct Entities {
    pub kinds: Arc<Registry>,
    pub schemas: Arc<SpecSchemas>,
    pub rules: RulesInForce,
    /// What can be served but was hardly meant.
    pub warnings: Vec<String>,
    /// Where relative paths of the configuration start.
    pub(crate) directory: PathBuf,
}

impl Entities {
    /// The kinds of a configuration. Every mistake is told at once, at its place in the file.
    pub fn load(loaded: &Loaded<ApiConfig>) -> Result<Entities, Diagnostics> {
        let kinds = loaded.value.entities.clone();
        let files = Files {
            openapi: loaded.tree.find(["server", "openapi_schema_path"]),
            aggregation: loaded.tree.find(["api", "aggregation_file"]),
            directory: loaded.file.as_deref().and_then(Path::parent),
        };
        match loaded.tree.get("entities") {
            Some(written) if !written.is_null() => build(kinds, written, &files),
            _ => build(kinds.clone(), &as_written(&kinds)?, &files),
        }
    }

    /// Kinds that no file holds. Paths of schemas start at the working directory.
    pub fn new(kinds: Vec<Kind>) -> Result<Entities, Diagnostics> {
        build(kinds.clone(), &as_written(&kinds)?, &Files::default())
    }
}

/// Files that a configuration names, as it names them, and where relative ones start.
#[derive(Default)]
struct Files<'a> {
    openapi: Option<&'a Node>,
    aggregation: Option<&'a Node>,
    directory: Option<&'a Path>,
}

/// A text that could have been the configuration, so that mistakes have a place.
fn as_written(kinds: &[Kind]) -> Result<Node, Diagnostics> {
    let text = serde_json::to_string_pretty(kinds).unwrap_or_default();
    yaml::parse(&SourceFile::new("entities", text))
}

fn build(kinds: Vec<Kind>, written: &Node, files: &Files<'_>) -> Result<Entities, Diagnostics> {
    let mut diagnostics = Vec::new();
    let directory = files.directory.unwrap_or(Path::new("")).to_owned();
    let rules = rules(
        &kinds,
        written,
        files.aggregation,
        &directory,
        &mut diagnostics,
    );
    let sources = Sources::new(directory.clone(), files.openapi, &mut diagnostics);
    let mut schemas = SpecSchemas::default();
    for (index, kind) in kinds.iter().enumerate() {
        let found = sources.schema(kind, written.nearest(&format!("/{index}")));
        diagnostics.extend(found.diagnostics);
        if let Some(schema) = found.schema {
            schemas.insert(kind.kind.clone(), schema);
        }
    }
    let names: Vec<String> = kinds.iter().map(|kind| kind.kind.clone()).collect();
    let registry = match Registry::new(kinds) {
        Ok(registry) => Some(registry),
        Err(errors) => {
            diagnostics.extend(errors.into_iter().map(|error| {
                let mut found = written.nearest(&error.pointer).error(error.to_string());
                let unknown = error.mistake.unknown_kind();
                found.help =
                    unknown.and_then(|name| suggest::help(name, names.iter().map(String::as_str)));
                found
            }));
            None
        }
    };
    let (warnings, errors): (Vec<Diagnostic>, Vec<Diagnostic>) = diagnostics
        .into_iter()
        .partition(|found| found.severity == Severity::Warning);
    let registry = Diagnostics::check(errors, registry)?;
    let kinds = registry.ok_or_else(|| written.error("the kinds do not fit together"))?;
    Ok(Entities {
        kinds: Arc::new(kinds),
        schemas: Arc::new(schemas),
        rules,
        warnings: warnings.iter().map(ToString::to_string).collect(),
        directory,
    })
}

/// The rules of the kinds, with what the AggregationConfig file adds to them.
fn rules(
    kinds: &[Kind],
    written: &Node,
    file: Option<&Node>,
    directory: &Path,
    diagnostics: &mut Vec<Diagnostic>,
) -> RulesInForce {
    let book = match Rulebook::new(kinds, &[]) {
        Ok((book, _)) => book,
        Err(error) => {
            diagnostics.extend(error.diagnostics(written));
            Rulebook::default()
        }
    };
    let of_kinds = RulesInForce::of_kinds(book, kinds);
    let Some((node, path)) = file.and_then(|node| Some((node, node.as_str()?))) else {
        return of_kinds;
    };
    match RulesFile::new(directory.join(path), kinds).load() {
        Ok((rules, odd)) => {
            diagnostics.extend(odd);
            return rules;
        }
        Err(RulesFileError::Wrong(error)) => diagnostics.extend(error.diagnostics(written)),
        Err(unreadable) => diagnostics.push(node.error(unreadable.to_string())),
    }
    of_kinds
}

#[cfg(test)]
mod tests;

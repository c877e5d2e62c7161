//! Where the schema of a kind comes from.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use hyperfleet_core::kind::Kind;
use hyperfleet_source::{Diagnostic, Node, SourceFile, suggest, yaml};
use serde_json::{Map, Value, json};

use super::compile::{self, Remark, SpecSchema};
use super::dialect::{self, COMPONENTS, DEFINITIONS};

/// What looking for the schema of one kind brought.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) schema: Option<SpecSchema>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads schemas for kinds: written in the configuration, in files beside it, or in an OpenAPI document.
pub(crate) struct Sources {
    /// Relative paths start here.
    directory: PathBuf,
    openapi: Option<Result<Node, ()>>,
}

impl Sources {
    /// `openapi` is the configured path of the document. That it cannot be read is told here, once.
    pub(crate) fn new(
        directory: PathBuf,
        openapi: Option<&Node>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Sources {
        let mut sources = Sources {
            directory,
            openapi: None,
        };
        sources.openapi = openapi.map(|path| {
            let document = sources.read(path, Path::new(path.as_str().unwrap_or_default()));
            let checked = document.and_then(|document| match version(&document) {
                Some(_) => Ok(document),
                None => Err(vec![document.nearest("/openapi").error(
                    "this is no OpenAPI 3 document: `openapi` must be 3.0.x or 3.1.x",
                )]),
            });
            checked.map_err(|found| diagnostics.extend(found))
        });
        sources
    }

    /// The schema of a kind; `entity` is where the kind is written.
    pub(crate) fn schema(&self, kind: &Kind, entity: &Node) -> Found {
        let title = kind
            .spec_schema_name
            .clone()
            .unwrap_or_else(|| format!("{} spec", kind.kind));
        if kind.spec_schema.is_some() {
            return own(title, entity.nearest("/spec_schema"));
        }
        if let Some(path) = &kind.spec_schema_file {
            return match self.read(entity.nearest("/spec_schema_file"), path) {
                Ok(schema) => own(title, &schema),
                Err(diagnostics) => Found {
                    schema: None,
                    diagnostics,
                },
            };
        }
        match (&kind.spec_schema_name, &self.openapi) {
            (Some(name), Some(Ok(document))) => named(kind, name, entity, document),
            // Why the document cannot be read was told.
            (Some(_), Some(Err(()))) => Found::default(),
            (Some(_), None) => absent(
                kind,
                entity,
                "there is no document to find it in",
                "name one with `server.openapi_schema_path`, or write the schema under `spec_schema`",
            ),
            (None, _) if kind.require_spec_schema => {
                let node = entity.nearest("/require_spec_schema");
                let message = format!("kind `{}` requires a schema and has none", kind.kind);
                let help = "add `spec_schema`, `spec_schema_file` or `spec_schema_name`";
                Found {
                    schema: None,
                    diagnostics: vec![node.error(message).with_help(help)],
                }
            }
            (None, _) => Found::default(),
        }
    }

    fn read(&self, named_at: &Node, path: &Path) -> Result<Node, Vec<Diagnostic>> {
        let path = self.directory.join(path);
        let name = path.display().to_string();
        match std::fs::read_to_string(&path) {
            Ok(text) => yaml::parse(&SourceFile::new(name, text)).map_err(|found| found.into_vec()),
            Err(error) => {
                Err(vec![named_at.error(format!(
                    "cannot read the schema file {name}: {error}"
                ))])
            }
        }
    }
}

fn version(document: &Node) -> Option<&str> {
    let version = document.get("openapi")?.as_str()?;
    ["3.0", "3.1"]
        .into_iter()
        .find(|known| version.starts_with(known))
}

/// A schema that is a node of its own.
fn own(title: String, node: &Node) -> Found {
    if node.as_mapping().is_none() {
        let found = node.error(format!("a schema is a mapping, found {}", node.kind()));
        return Found {
            schema: None,
            diagnostics: vec![found],
        };
    }
    let document = node.to_json();
    let warnings = compile::oddities(&document);
    finish(SpecSchema::new(title, document), warnings, |pointer| {
        node.nearest(pointer)
    })
}

/// A schema of the OpenAPI document, with everything it refers to.
fn named(kind: &Kind, name: &str, entity: &Node, document: &Node) -> Found {
    let schemas = document.find(["components", "schemas"]);
    let entries = schemas.and_then(Node::as_mapping).unwrap_or_default();
    let known: HashMap<&str, &Node> = entries
        .iter()
        .map(|(key, node)| (key.text.as_str(), node))
        .collect();
    if !known.contains_key(name) {
        let mut names: Vec<&str> = known.keys().copied().collect();
        names.sort_unstable();
        let help = suggest::help(name, names).unwrap_or_default();
        let file = document.file.name();
        return absent(kind, entity, &format!("{file} has no such schema"), &help);
    }
    let old = version(document) == Some("3.0");
    let mut definitions = Map::new();
    let mut wanted = BTreeSet::from([name.to_owned()]);
    while let Some(next) = wanted.pop_first() {
        if let Some(node) = known.get(next.as_str())
            && !definitions.contains_key(&next)
        {
            let mut schema = node.to_json();
            if old {
                schema = dialect::from_openapi_3_0(&schema);
            }
            references(&schema, &mut wanted);
            dialect::localise(&mut schema);
            definitions.insert(next, schema);
        }
    }
    let mut bundle = json!({ "$ref": format!("{DEFINITIONS}{name}") });
    bundle["$defs"] = Value::Object(definitions);
    let at = |pointer: &str| match pointer.strip_prefix("/$defs") {
        Some(rest) => document.nearest(&format!("/components/schemas{rest}")),
        None => entity.nearest("/spec_schema_name"),
    };
    // A document that others maintain may hold more than this server needs: its words are not judged.
    let compiled = SpecSchema::new(name.to_owned(), bundle).map_err(|mut remarks| {
        for remark in &mut remarks {
            remark.message = remark.message.replace(DEFINITIONS, COMPONENTS);
        }
        remarks
    });
    finish(compiled, Vec::new(), at)
}

/// The names of all schemas that are referred to.
fn references(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, names)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(target) if key == "$ref" => {
                        let name = target.strip_prefix(COMPONENTS);
                        let name = name.map(|name| name.split('/').next().unwrap_or(name));
                        names.extend(name.map(str::to_owned));
                    }
                    other => references(other, names),
                }
            }
        }
        _ => {}
    }
}

/// A schema that is named and not there: a mistake if it is required, else only worth saying.
fn absent(kind: &Kind, entity: &Node, why: &str, help: &str) -> Found {
    let node = entity.nearest("/spec_schema_name");
    let name = kind.spec_schema_name.as_deref().unwrap_or_default();
    let diagnostic = if kind.require_spec_schema {
        node.error(format!("schema `{name}` of kind `{}`: {why}", kind.kind))
    } else {
        node.warning(format!(
            "schema `{name}` of kind `{}`: {why}; its specs are not checked",
            kind.kind
        ))
    };
    Found {
        schema: None,
        diagnostics: vec![diagnostic.with_help(help)],
    }
}

fn finish<'n>(
    compiled: Result<SpecSchema, Vec<Remark>>,
    warnings: Vec<Remark>,
    at: impl Fn(&str) -> &'n Node,
) -> Found {
    let place = |remark: Remark, mut diagnostic: Diagnostic| {
        diagnostic.help = remark.help;
        diagnostic
    };
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for remark in warnings {
        let found = at(&remark.pointer).warning(remark.message.clone());
        diagnostics.push(place(remark, found));
    }
    let schema = match compiled {
        Ok(schema) => Some(schema),
        Err(remarks) => {
            for remark in remarks {
                let found =
                    at(&remark.pointer).error(format!("not a valid schema: {}", remark.message));
                diagnostics.push(place(remark, found));
            }
            None
        }
    };
    Found {
        schema,
        diagnostics,
    }
}

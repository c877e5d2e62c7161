//! What is wanted, from files: YAML or JSON, one or many, as people write them or as `get -o yaml` printed them.

mod files;

use clap::Args;
use hyperfleet_source::suggest;
use hyperfleet_source::{Diagnostics, Node, SourceFile, yaml};
use serde_json::{Map, Value, json};

use super::failure::Failure;

/// What can be wanted of a resource, and may be changed.
pub(crate) const WANTED: [&str; 3] = ["spec", "labels", "references"];
/// What the server says and nobody else: left out of what is sent, so that what was printed can be applied.
const TOLD: [&str; 11] = [
    "id",
    "href",
    "generation",
    "created_time",
    "created_by",
    "updated_time",
    "updated_by",
    "deleted_time",
    "deleted_by",
    "status",
    "tenancy",
];
/// Everything else that is read.
const READ: [&str; 5] = ["kind", "name", "parent", "owner_references", "metadata"];

#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    /// A file, a directory with files (.yaml, .yml, .json), or - for standard input; may be repeated
    #[arg(short, long, value_name = "FILE", required = true)]
    pub(crate) filename: Vec<String>,
    /// Directories in directories too
    #[arg(short = 'R', long)]
    pub(crate) recursive: bool,
}

/// One resource as it is wanted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Manifest {
    /// Where it was written, for messages.
    pub(crate) place: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) parent: Option<Parent>,
    /// `spec`, `labels` and `references`, as far as they are given.
    pub(crate) wanted: Map<String, Value>,
}

/// Whose child it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Parent {
    Id(String),
    /// `cluster/production-1`, or a name.
    Word(String),
}

impl FileArgs {
    /// Everything the files want, in the order it was written.
    pub(crate) fn read(&self) -> Result<Vec<Manifest>, Failure> {
        let mut manifests = Vec::new();
        for source in files::read(&self.filename, self.recursive)? {
            manifests.extend(parse(&source).map_err(|wrong| Failure::usage(wrong.to_string()))?);
        }
        match manifests.is_empty() {
            true => Err(Failure::usage("there is nothing in what -f names")),
            false => Ok(manifests),
        }
    }
}

/// The resources of a file; lists of them count one by one.
pub(crate) fn parse(file: &SourceFile) -> Result<Vec<Manifest>, Diagnostics> {
    let mut manifests = Vec::new();
    for document in yaml::parse_all(file)? {
        match document.get("items") {
            _ if document.is_null() => {}
            Some(items) => {
                for item in items.as_sequence().unwrap_or_default() {
                    manifests.push(read(item)?);
                }
            }
            None => manifests.push(read(&document)?),
        }
    }
    Ok(manifests)
}

fn read(node: &Node) -> Result<Manifest, Diagnostics> {
    let Some(fields) = node.as_mapping() else {
        let found = format!("a resource is a mapping, found {}", node.kind());
        return Err(node.error(found).into());
    };
    for (key, _) in fields {
        let known = || READ.into_iter().chain(WANTED).chain(TOLD);
        if !known().any(|name| name == key.text) {
            let mut wrong = key.error(format!("a resource has no field `{}`", key.text));
            let writable = READ.into_iter().chain(WANTED);
            if let Some(help) = suggest::help(&key.text, writable) {
                wrong = wrong.with_help(help);
            }
            return Err(wrong.into());
        }
    }
    let metadata = node.get("metadata");
    // What Kubernetes keeps under `metadata` may stand there here too.
    let own = |name: &str| node.get(name).or_else(|| metadata?.get(name));
    if let Some(metadata) = metadata {
        for (key, _) in metadata.as_mapping().unwrap_or_default() {
            if !matches!(key.text.as_str(), "name" | "labels") {
                let wrong = format!("only `name` and `labels` are read here, not `{}`", key.text);
                return Err(key.error(wrong).into());
            }
        }
    }
    let text = |name: &str| -> Result<String, Diagnostics> {
        let value = own(name).filter(|value| !value.is_null());
        let text = value.and_then(Node::as_str);
        match (text, value) {
            (Some(text), _) => Ok(text.to_owned()),
            (None, Some(value)) => Err(value
                .error(format!("`{name}` is a text, found {}", value.kind()))
                .into()),
            (None, None) => Err(node
                .error(format!("a resource needs the key `{name}`"))
                .into()),
        }
    };
    let parent = match (node.get("parent"), node.get("owner_references")) {
        (Some(parent), _) => parent.as_str().map(|word| Parent::Word(word.to_owned())),
        (None, Some(owner)) => owner
            .get("id")
            .and_then(Node::as_str)
            .map(|id| Parent::Id(id.to_owned())),
        (None, None) => None,
    };
    let wanted = WANTED
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), own(name)?.to_json())))
        .collect();
    Ok(Manifest {
        place: node.location(),
        kind: text("kind")?,
        name: text("name")?,
        parent,
        wanted,
    })
}

/// What of a resource can be written again.
pub(crate) fn editable(resource: &Value) -> Value {
    let mut kept = json!({"kind": resource["kind"], "name": resource["name"]});
    for name in WANTED {
        let there = resource
            .get(name)
            .filter(|value| !value.is_null() && value.as_object().is_none_or(|it| !it.is_empty()));
        if let Some(value) = there {
            kept[name] = bare(name, value);
        }
    }
    kept
}

/// References without what the server adds to them.
pub(crate) fn bare(name: &str, value: &Value) -> Value {
    let mut value = value.clone();
    if name == "references"
        && let Some(types) = value.as_object_mut()
    {
        for targets in types.values_mut().filter_map(Value::as_array_mut) {
            for target in targets {
                *target = json!({"id": target["id"]});
            }
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<Manifest>, String> {
        parse(&SourceFile::new("fleet.yaml", text)).map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn documents_lists_and_kubernetes_metadata_are_read() {
        let text = "kind: Cluster\nname: one\nspec: {region: eu}\n---\n\
                    kind: NodePool\nmetadata: {name: two, labels: {a: b}}\nparent: cluster/one\n---\n\
                    kind: List\nitems:\n- {kind: Cluster, name: three, id: x, status: {}, generation: 4}\n";
        let found = parsed(text).unwrap();
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["one", "two", "three"]);
        assert_eq!(found[0].wanted["spec"], json!({"region": "eu"}));
        assert_eq!(found[1].wanted["labels"], json!({"a": "b"}));
        assert_eq!(
            found[1].parent,
            Some(Parent::Word("cluster/one".to_owned()))
        );
        assert!(found[2].wanted.is_empty());
    }

    #[test]
    fn a_mistake_is_told_with_its_place_and_what_was_probably_meant() {
        let told = parsed("kind: Cluster\nname: one\nlables: {}\n").unwrap_err();
        assert!(told.contains("fleet.yaml:3:1"), "{told}");
        assert!(told.contains("did you mean `labels`?"), "{told}");
        let told = parsed("kind: Cluster\n").unwrap_err();
        assert!(told.contains("needs the key `name`"), "{told}");
        let told = parsed("kind: Cluster\nname: [1]\n").unwrap_err();
        assert!(told.contains("is a text"), "{told}");
        assert!(parsed("just text").is_err());
    }

    #[test]
    fn what_was_printed_can_be_written_again() {
        let printed = json!({
            "kind": "Cluster", "name": "one", "id": "1", "spec": {"a": 1}, "labels": {},
            "references": {"version": [{"id": "v", "href": "/x", "kind": "Version"}]},
            "status": {"phase": "Ready"},
        });
        let expected = json!({
            "kind": "Cluster", "name": "one", "spec": {"a": 1}, "references": {"version": [{"id": "v"}]},
        });
        assert_eq!(editable(&printed), expected);
    }
}

//! `hyperfleet explain`: what a field of a kind is, from the contract the server serves.

use std::fmt::Write as _;

use clap::Args;
use hyperfleet_source::suggest;
use serde_json::{Map, Value};

use super::connect::ConnectArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::printer::data;
use crate::output::{Look, Tone, printable};

/// A schema that refers to itself ends here.
const DEEPEST: usize = 20;

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A kind, and if you like a field of it: cluster.spec.network
    #[arg(value_name = "KIND[.FIELD…]", add = super::completion::kinds())]
    what: String,
    /// Fields of fields as well
    #[arg(long)]
    recursive: bool,
    #[command(flatten)]
    connect: ConnectArgs,
}

pub(crate) async fn run(args: &ExplainArgs) -> Result<Exit, Failure> {
    let fleet = args.connect.connect().await?;
    let mut words = args.what.split('.');
    let kind = fleet.kind(words.next().unwrap_or_default()).await?;
    let path: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let contract = fleet.client.openapi().await;
    let contract = contract.map_err(|error| fleet.told(error))?;
    let schemas = Schemas(&contract["components"]["schemas"]);
    let root = schemas.0.get(&kind.kind).ok_or_else(|| {
        Failure::new(
            Exit::NotFound,
            format!("the server's contract says nothing about {}", kind.kind),
        )
    })?;
    let mut schema = schemas.resolve(root);
    for (depth, field) in path.iter().enumerate() {
        let fields = schemas.fields(&schema);
        schema = match fields.get(*field) {
            Some(inner) => schemas.resolve(inner),
            None => return Err(no_field(&kind.kind, &path[..=depth], &fields)),
        };
    }
    let depth = match args.recursive {
        true => DEEPEST,
        false => 1,
    };
    data(&text(&schemas, &kind.kind, &path, &schema, depth))?;
    Ok(Exit::Done)
}

fn no_field(kind: &str, path: &[&str], fields: &Map<String, Value>) -> Failure {
    let (field, place) = match path {
        [before @ .., last] => (*last, before.join(".")),
        [] => ("", String::new()),
    };
    let place = match place.is_empty() {
        true => kind.to_owned(),
        false => format!("{kind}.{place}"),
    };
    let failure = Failure::new(
        Exit::NotFound,
        format!("{place} has no field `{field}` that the contract knows"),
    );
    match suggest::help(field, fields.keys().map(String::as_str)) {
        Some(help) => failure.hint(help),
        None => failure.hint("anything may be written there: no schema says more"),
    }
}

fn text(
    schemas: &Schemas<'_>,
    kind: &str,
    path: &[&str],
    schema: &Map<String, Value>,
    depth: usize,
) -> String {
    let look = Look::of_stdout();
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "KIND:  {kind}");
    if !path.is_empty() {
        let _ = writeln!(
            out,
            "FIELD: {} <{}>",
            path.join("."),
            schemas.type_of(schema)
        );
    }
    if let Some(words) = schema.get("description").and_then(Value::as_str) {
        let _ = writeln!(out, "\n{}", printable(words));
    }
    let rules = rules(schema);
    if !rules.is_empty() {
        let _ = writeln!(out, "\nRULES: {}", rules.join(", "));
    }
    let fields = schemas.fields(schema);
    if !fields.is_empty() {
        let _ = writeln!(out, "\n{}", look.paint(Tone::Strong, "FIELDS:"));
        schemas.list(schema, depth, 1, &mut out);
    }
    out
}

/// What must hold of a value, in the words of the schema.
fn rules(schema: &Map<String, Value>) -> Vec<String> {
    const WORDS: [&str; 11] = [
        "enum",
        "format",
        "pattern",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "nullable",
        "default",
    ];
    let said = |word: &&str| Some(format!("{word} {}", schema.get(*word)?));
    WORDS.iter().filter_map(said).collect()
}

/// The schemas of a contract.
struct Schemas<'a>(&'a Value);

impl Schemas<'_> {
    /// A schema without references at its top, and with all parts of `allOf` in one.
    fn resolve(&self, schema: &Value) -> Map<String, Value> {
        self.resolve_within(schema, DEEPEST)
    }

    fn resolve_within(&self, schema: &Value, left: usize) -> Map<String, Value> {
        let mut merged = Map::new();
        let Some(schema) = schema.as_object().filter(|_| left > 0) else {
            return merged;
        };
        let target = schema.get("$ref").and_then(Value::as_str);
        let target = target.and_then(|target| target.strip_prefix("#/components/schemas/"));
        if let Some(target) = target.and_then(|name| self.0.get(name)) {
            merged = self.resolve_within(target, left - 1);
        }
        let parts = schema.get("allOf").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            merge(&mut merged, self.resolve_within(part, left - 1));
        }
        let own = schema
            .iter()
            .filter(|(key, _)| !matches!(key.as_str(), "$ref" | "allOf"))
            .map(|(key, value)| (key.clone(), value.clone()));
        merge(&mut merged, own.collect());
        merged
    }

    /// The fields of an object, or of the items of a list.
    fn fields(&self, schema: &Map<String, Value>) -> Map<String, Value> {
        if let Some(Value::Object(fields)) = schema.get("properties") {
            return fields.clone();
        }
        match schema.get("items") {
            Some(items) => {
                let items = self.resolve(items);
                match items.get("properties") {
                    Some(Value::Object(fields)) => fields.clone(),
                    _ => Map::new(),
                }
            }
            None => Map::new(),
        }
    }

    fn type_of(&self, schema: &Map<String, Value>) -> String {
        let own = schema.get("type").and_then(Value::as_str);
        match own {
            Some("array") => {
                let items = schema.get("items").map(|items| self.resolve(items));
                format!(
                    "[]{}",
                    items.map_or_else(|| "any".to_owned(), |it| self.type_of(&it))
                )
            }
            Some("object") if !schema.contains_key("properties") => {
                match schema.get("additionalProperties") {
                    Some(Value::Object(_)) => {
                        let values = self.resolve(&schema["additionalProperties"]);
                        format!("map[string]{}", self.type_of(&values))
                    }
                    _ => "object".to_owned(),
                }
            }
            Some(other) => other.to_owned(),
            None if schema.contains_key("properties") => "object".to_owned(),
            None => "any".to_owned(),
        }
    }

    fn list(&self, schema: &Map<String, Value>, depth: usize, level: usize, out: &mut String) {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
        for (name, field) in self.fields(schema) {
            let field = self.resolve(&field);
            let mark = if is_required(&name) {
                " -required-"
            } else {
                ""
            };
            let indent = "  ".repeat(level);
            let _ = writeln!(out, "{indent}{name} <{}>{mark}", self.type_of(&field));
            if depth > 1 {
                self.list(&field, depth - 1, level + 1, out);
            } else if let Some(words) = field.get("description").and_then(Value::as_str) {
                let _ = writeln!(out, "{indent}  {}", printable(words));
            }
        }
    }
}

/// Later members win; fields and what is required add up.
fn merge(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (key, value) in from {
        match (key.as_str(), into.get_mut(&key), value) {
            ("properties", Some(Value::Object(old)), Value::Object(new)) => old.extend(new),
            ("required", Some(Value::Array(old)), Value::Array(new)) => old.extend(new),
            (_, _, value) => {
                into.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_is_found_through_references_and_parts() {
        let all = json!({
            "Base": {"properties": {"id": {"type": "string"}}, "required": ["id"]},
            "Spec": {"type": "object", "properties": {"nodes": {"type": "integer", "minimum": 1}}},
            "Cluster": {"allOf": [{"$ref": "#/components/schemas/Base"},
                                  {"properties": {"spec": {"$ref": "#/components/schemas/Spec"}}}]},
        });
        let schemas = Schemas(&all);
        let root = schemas.resolve(&all["Cluster"]);
        let fields = schemas.fields(&root);
        assert_eq!(fields.keys().collect::<Vec<_>>(), ["id", "spec"]);
        let spec = schemas.resolve(&fields["spec"]);
        let told = text(&schemas, "Cluster", &["spec"], &spec, 1);
        assert!(told.contains("FIELD: spec <object>"), "{told}");
        assert!(told.contains("nodes <integer>"), "{told}");
        let missing = no_field("Cluster", &["spec", "node"], &schemas.fields(&spec));
        assert!(
            missing.to_string().contains("did you mean `nodes`?"),
            "{missing}"
        );
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let all = json!({"Tree": {"type": "object", "properties": {"below": {"$ref": "#/components/schemas/Tree"}}},
                         "Loop": {"allOf": [{"$ref": "#/components/schemas/Loop"}]}});
        let schemas = Schemas(&all);
        let tree = schemas.resolve(&all["Tree"]);
        let told = text(&schemas, "Tree", &[], &tree, DEEPEST);
        assert_eq!(told.matches("below").count(), DEEPEST);
        assert!(schemas.resolve(&all["Loop"]).is_empty());
    }
}

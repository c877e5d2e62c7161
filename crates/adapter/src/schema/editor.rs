//! What an editor must be told that the types do not say: the other spelling of each key.

use serde_json::{Map, Value as Json, json};

/// Every key may also be written in the camelCase of older files.
pub(super) fn both_spellings(mut schema: Json) -> Json {
    walk(&mut schema, &|name, _| {
        let camel = camel(name);
        (camel != name).then_some(camel).into_iter().collect()
    });
    schema
}

/// Keys that say so themselves may be written otherwise; no other keys are known.
pub(super) fn with_aliases(mut schema: Json) -> Json {
    walk(&mut schema, &|_, property| {
        let aliases = property.get("x-aliases").and_then(Json::as_array);
        let aliases = aliases.into_iter().flatten().filter_map(Json::as_str);
        aliases.map(str::to_owned).collect()
    });
    schema
}

fn walk(schema: &mut Json, others: &impl Fn(&str, &Json) -> Vec<String>) {
    match schema {
        Json::Array(items) => items.iter_mut().for_each(|item| walk(item, others)),
        Json::Object(fields) => {
            fields.values_mut().for_each(|field| walk(field, others));
            // JSON Schema means ISO 8601 by it, and these are Go's.
            if fields.get("format") == Some(&json!("duration")) {
                fields.remove("format");
                fields.insert(
                    "pattern".to_owned(),
                    json!(r"^([0-9.]+(ns|us|µs|ms|s|m|h))+$|^0$"),
                );
            }
            close(fields, others);
        }
        _ => {}
    }
}

/// Adds the other spellings to a mapping, and closes it.
fn close(schema: &mut Map<String, Json>, others: &impl Fn(&str, &Json) -> Vec<String>) {
    let is_mapping = schema.get("type").is_some_and(|kind| {
        kind == "object"
            || kind
                .as_array()
                .is_some_and(|all| all.contains(&json!("object")))
    });
    if !is_mapping {
        return;
    }
    let Some(Json::Object(mut properties)) = schema.remove("properties") else {
        return;
    };
    let known: Vec<(String, Json)> = properties.clone().into_iter().collect();
    let mut either = Vec::new();
    for (name, property) in known {
        for other in others(&name, &property) {
            let mut same = property.clone();
            if let Json::Object(fields) = &mut same {
                let description = format!("The same as `{name}`.");
                fields.insert("description".to_owned(), json!(description));
            }
            properties.insert(other.clone(), same);
            // One of the two is enough where one is needed.
            if let Some(Json::Array(required)) = schema.get_mut("required")
                && let Some(at) = required.iter().position(|one| *one == name.as_str())
            {
                required.remove(at);
                either.push(json!({"anyOf": [{"required": [name]}, {"required": [other]}]}));
            }
        }
    }
    schema.insert("properties".to_owned(), Json::Object(properties));
    if !either.is_empty() {
        schema.insert("allOf".to_owned(), Json::Array(either));
    }
    if !schema.contains_key("additionalProperties") {
        schema.insert("additionalProperties".to_owned(), json!(false));
    }
}

/// `by_name` as `byName`.
fn camel(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut upper = false;
    for letter in name.chars() {
        match letter {
            '_' => upper = true,
            _ if upper => {
                camel.push(letter.to_ascii_uppercase());
                upper = false;
            }
            _ => camel.push(letter),
        }
    }
    camel
}

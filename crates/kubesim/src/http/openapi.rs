//! OpenAPI documents, reduced to what `kubectl` reads: paths with their parameters, and field names and types without
//! their descriptions.

use std::collections::BTreeSet;

use axum::extract::Request;
use axum::response::Response;
use http::{StatusCode, header};
use serde_json::{Map, Value, json};

use super::{Front, json_response};
use crate::catalog::{Catalog, Resource};
use crate::failure::Failure;
use crate::schema::{Identity, Shape, builtin};

pub(super) fn serve(front: &Front, rest: &str, request: &Request) -> Result<Response, Failure> {
    let state = front.cluster.lock();
    let catalog = &state.catalog;
    let body = match rest {
        "v2" => {
            let accept = request
                .headers()
                .get(header::ACCEPT)
                .and_then(|v| v.to_str().ok())
                .unwrap_or_default();
            if !accept.is_empty() && !accept.contains("json") && !accept.contains("*/*") {
                return Err(Failure::not_acceptable());
            }
            json!({
                "swagger": "2.0", "info": { "title": "kubesim", "version": "v1.36.0" }, "paths": {}, "definitions": {},
            })
        }
        "v3" => index(catalog),
        path => {
            let (group, version) = match path
                .strip_prefix("v3/")
                .ok_or_else(Failure::no_such_path)?
                .split_once('/')
            {
                Some(("api", version)) => ("", version),
                Some(("apis", rest)) => rest.split_once('/').ok_or_else(Failure::no_such_path)?,
                _ => return Err(Failure::no_such_path()),
            };
            if !catalog
                .versions(group)
                .is_some_and(|versions| versions.iter().any(|v| v == version))
            {
                return Err(Failure::no_such_path());
            }
            document(catalog, group, version)
        }
    };
    drop(state);
    Ok(json_response(StatusCode::OK, &body, false))
}

fn index(catalog: &Catalog) -> Value {
    let mut paths = Map::new();
    for (group, versions) in catalog.groups() {
        for version in versions {
            let path = if group.is_empty() {
                format!("api/{version}")
            } else {
                format!("apis/{group}/{version}")
            };
            paths.insert(
                path.clone(),
                json!({ "serverRelativeURL": format!("/openapi/v3/{path}") }),
            );
        }
    }
    json!({ "paths": paths })
}

fn document(catalog: &Catalog, group: &str, version: &str) -> Value {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    let mut named = BTreeSet::new();
    for resource in catalog.in_version(group, version) {
        let kind =
            json!({ "group": resource.group, "version": resource.version, "kind": resource.kind });
        let schema_name = schema_name(resource);
        let mut schema = describe(&resource.shape, &mut named);
        if let Shape::Named(_) = resource.shape {
            schema = describe(resource.shape.resolve(), &mut named);
        }
        schema["x-kubernetes-group-version-kind"] = json!([kind]);
        schemas.insert(schema_name.clone(), schema);
        let base = if group.is_empty() {
            format!("/api/{version}")
        } else {
            format!("/apis/{group}/{version}")
        };
        let scope = if resource.namespaced {
            "/namespaces/{namespace}"
        } else {
            ""
        };
        let reference = json!({ "$ref": format!("#/components/schemas/{schema_name}") });
        let operation = |action: &str| {
            json!({
                "operationId": format!("{action}{}{}{}", group.replace('.', ""), version, resource.kind),
                "x-kubernetes-action": action,
                "x-kubernetes-group-version-kind": kind,
                "parameters": parameters(),
                "responses": { "200": { "description": "OK", "content": { "application/json": { "schema": reference } } } },
            })
        };
        let path = format!("{base}{scope}/{}", resource.plural);
        paths.insert(
            path.clone(),
            json!({ "get": operation("list"), "post": operation("post") }),
        );
        paths.insert(
            format!("{path}/{{name}}"),
            json!({
                "get": operation("get"), "put": operation("put"), "patch": operation("patch"),
                "delete": operation("delete"),
            }),
        );
    }
    let mut described = BTreeSet::new();
    while let Some(name) = named.difference(&described).next().cloned() {
        if let Some(shape) = builtin(&name) {
            let schema = describe(shape, &mut named);
            schemas.entry(qualified(&name)).or_insert(schema);
        }
        described.insert(name);
    }
    json!({
        "openapi": "3.0.0", "info": { "title": "kubesim", "version": "v1.36.0" },
        "paths": paths, "components": { "schemas": schemas },
    })
}

fn schema_name(resource: &Resource) -> String {
    match &resource.shape {
        Shape::Named(name) => qualified(name),
        _ => {
            let reversed: Vec<&str> = resource.group.split('.').rev().collect();
            format!(
                "{}.{}.{}",
                reversed.join("."),
                resource.version,
                resource.kind
            )
        }
    }
}

fn qualified(name: &str) -> String {
    match name.strip_prefix("meta.") {
        Some(rest) => format!("io.k8s.apimachinery.pkg.apis.meta.{rest}"),
        None => format!("io.k8s.api.{name}"),
    }
}

fn parameters() -> Value {
    let text = json!({ "type": "string", "uniqueItems": true });
    json!([
        { "name": "dryRun", "in": "query", "schema": text },
        { "name": "fieldManager", "in": "query", "schema": text },
        { "name": "fieldValidation", "in": "query", "schema": text },
    ])
}

fn describe(shape: &Shape, named: &mut BTreeSet<String>) -> Value {
    match shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Integer => json!({ "type": "integer", "format": "int64" }),
        Shape::Number => json!({ "type": "number", "format": "double" }),
        Shape::Boolean => json!({ "type": "boolean" }),
        Shape::IntOrText => json!({ "type": "string", "format": "int-or-string" }),
        Shape::Any { .. } => {
            json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
        }
        Shape::Map { item, .. } => {
            json!({ "type": "object", "additionalProperties": describe(item, named) })
        }
        Shape::Named(name) | Shape::AtomicNamed(name) => {
            named.insert(name.clone());
            json!({ "$ref": format!("#/components/schemas/{}", qualified(name)) })
        }
        Shape::List(list) => {
            let mut schema = json!({ "type": "array", "items": describe(&list.item, named) });
            match &list.identity {
                Identity::Atomic => schema["x-kubernetes-list-type"] = "atomic".into(),
                Identity::Set => schema["x-kubernetes-list-type"] = "set".into(),
                Identity::Keys(keys) => {
                    schema["x-kubernetes-list-type"] = "map".into();
                    schema["x-kubernetes-list-map-keys"] =
                        keys.iter().map(|(k, _)| k.as_str()).collect();
                }
            }
            if let Some(key) = &list.patch_key {
                schema["x-kubernetes-patch-strategy"] = "merge".into();
                if !key.is_empty() {
                    schema["x-kubernetes-patch-merge-key"] = key.as_str().into();
                }
            }
            schema
        }
        Shape::Struct(fields) => {
            let properties: Map<String, Value> = fields
                .fields
                .iter()
                .map(|(name, field)| (name.clone(), describe(&field.shape, named)))
                .collect();
            json!({ "type": "object", "properties": properties })
        }
    }
}

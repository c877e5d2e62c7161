//! Which groups, versions and resources exist: the aggregated form clients ask for now and the older lists.

use axum::extract::Request;
use axum::response::Response;
use http::{HeaderValue, Method, StatusCode, header};
use serde_json::{Value, json};

use super::{Front, json_response};
use crate::catalog::{Catalog, Resource};
use crate::failure::Failure;

/// Answers `/api`, `/apis`, `/apis/{group}` and `/api(s)/…/{version}`; `None` for deeper paths.
pub(super) fn serve(
    front: &Front,
    path: &str,
    request: &Request,
) -> Result<Option<Response>, Failure> {
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    if !matches!(segments.first(), Some(&"api" | &"apis")) {
        return Ok(None);
    }
    let accept = request
        .headers()
        .get(header::ACCEPT)
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default();
    let aggregated = accept.contains("as=APIGroupDiscoveryList") && accept.contains("v=v2");
    let state = front.cluster.lock();
    let catalog = &state.catalog;
    let body = match segments.as_slice() {
        ["api"] if aggregated => group_list(catalog, |group| group.is_empty()),
        ["apis"] if aggregated => group_list(catalog, |group| !group.is_empty()),
        ["api"] => json!({
            "kind": "APIVersions", "versions": ["v1"],
            "serverAddressByClientCIDRs": [],
        }),
        ["apis"] => {
            let groups: Vec<Value> = catalog
                .groups()
                .filter(|(name, _)| !name.is_empty())
                .map(|(name, versions)| group(name, versions, false))
                .collect();
            json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })
        }
        ["apis", name] => group(
            name,
            catalog.versions(name).ok_or_else(Failure::no_such_path)?,
            true,
        ),
        ["api", version] => resource_list(catalog, "", version)?,
        ["apis", group, version] => resource_list(catalog, group, version)?,
        _ => return Ok(None),
    };
    drop(state);
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return Err(Failure::method_not_allowed());
    }
    let mut response = json_response(StatusCode::OK, &body, false);
    if aggregated && segments.len() == 1 {
        let content = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static(content));
    }
    Ok(Some(response))
}

fn group(name: &str, versions: &[String], standalone: bool) -> Value {
    let version = |v: &String| json!({ "groupVersion": format!("{name}/{v}"), "version": v });
    let mut group = json!({
        "name": name,
        "versions": versions.iter().map(version).collect::<Vec<_>>(),
        "preferredVersion": versions.first().map(version),
    });
    if standalone {
        group["kind"] = "APIGroup".into();
        group["apiVersion"] = "v1".into();
    }
    group
}

fn resource_list(catalog: &Catalog, group: &str, version: &str) -> Result<Value, Failure> {
    if !catalog
        .versions(group)
        .is_some_and(|versions| versions.iter().any(|v| v == version))
    {
        return Err(Failure::no_such_path());
    }
    let mut resources = Vec::new();
    for resource in catalog.in_version(group, version) {
        let mut entry = json!({
            "name": resource.plural, "singularName": resource.singular, "namespaced": resource.namespaced,
            "kind": resource.kind, "verbs": resource.verbs,
        });
        if !resource.short_names.is_empty() {
            entry["shortNames"] = json!(resource.short_names);
        }
        if !resource.categories.is_empty() {
            entry["categories"] = json!(resource.categories);
        }
        resources.push(entry);
        for sub in &resource.subresources {
            let (group, version, kind) = response_kind(resource, sub);
            let mut entry = json!({
                "name": format!("{}/{sub}", resource.plural), "singularName": "", "namespaced": resource.namespaced,
                "kind": kind, "verbs": subresource_verbs(sub),
            });
            if group != resource.group || version != resource.version {
                entry["group"] = group.into();
                entry["version"] = version.into();
            }
            resources.push(entry);
        }
    }
    let api_version = if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    };
    Ok(
        json!({ "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": api_version, "resources": resources }),
    )
}

fn subresource_verbs(subresource: &str) -> Value {
    match subresource {
        "eviction" => json!(["create"]),
        "finalize" => json!(["update"]),
        _ => json!(["get", "patch", "update"]),
    }
}

fn response_kind(resource: &Resource, subresource: &str) -> (String, String, String) {
    match subresource {
        "scale" => ("autoscaling".into(), "v1".into(), "Scale".into()),
        "eviction" => ("policy".into(), "v1".into(), "Eviction".into()),
        _ => (
            resource.group.clone(),
            resource.version.clone(),
            resource.kind.clone(),
        ),
    }
}

fn group_list(catalog: &Catalog, wanted: impl Fn(&str) -> bool) -> Value {
    let items: Vec<Value> = catalog
        .groups()
        .filter(|(group, _)| wanted(group))
        .map(|(group, versions)| {
            let versions: Vec<Value> = versions
                .iter()
                .map(|version| {
                    let resources: Vec<Value> = catalog
                        .in_version(group, version)
                        .map(|r| aggregated(r))
                        .collect();
                    json!({ "version": version, "resources": resources, "freshness": "Current" })
                })
                .collect();
            let metadata = if group.is_empty() {
                json!({})
            } else {
                json!({ "name": group })
            };
            json!({ "metadata": metadata, "versions": versions })
        })
        .collect();
    json!({ "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items })
}

fn aggregated(resource: &Resource) -> Value {
    let mut entry = json!({
        "resource": resource.plural,
        "responseKind": { "group": resource.group, "version": resource.version, "kind": resource.kind },
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular,
        "verbs": resource.verbs,
    });
    if !resource.short_names.is_empty() {
        entry["shortNames"] = json!(resource.short_names);
    }
    if !resource.categories.is_empty() {
        entry["categories"] = json!(resource.categories);
    }
    if !resource.subresources.is_empty() {
        let subresources: Vec<Value> = resource
            .subresources
            .iter()
            .map(|sub| {
                let (group, version, kind) = response_kind(resource, sub);
                json!({
                    "subresource": sub,
                    "responseKind": { "group": group, "version": version, "kind": kind },
                    "verbs": subresource_verbs(sub),
                })
            })
            .collect();
        entry["subresources"] = subresources.into();
    }
    entry
}

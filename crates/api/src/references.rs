//! References in a body: what a resource points at without owning it.

use std::collections::BTreeMap;

use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::kind::{Kind, ReferenceRule};
use hyperfleet_core::resource::{BASE_PATH, ObjectReference, Reference, References, Resource};
use serde_json::Value;

use crate::failure::Failure;
use crate::state::ApiState;
use hyperfleet_store::Store;

/// Most targets of one request: each is read by key.
const MAX_TARGETS: usize = 1000;

/// Checks references against the kind's rules and against what exists.
pub(crate) async fn read(
    state: &ApiState,
    tenant: &Store,
    kind: &Kind,
    value: Option<&Value>,
) -> Result<References, Failure> {
    let empty = serde_json::Map::new();
    let given = match value {
        None | Some(Value::Null) => &empty,
        Some(Value::Object(given)) => given,
        Some(_) => {
            return Err(Failure::invalid(
                "references",
                None,
                "field 'references' must be an object",
            ));
        }
    };
    let mut wanted: BTreeMap<&str, Vec<ResourceId>> = BTreeMap::new();
    for (ref_type, entries) in given {
        let field = format!("references.{ref_type}");
        let Some(rule) = kind
            .references
            .iter()
            .find(|rule| rule.ref_type == *ref_type)
        else {
            let message = format!("unknown reference type \"{ref_type}\" for {}", kind.kind);
            return Err(Failure::invalid(&field, Some("enum"), message));
        };
        wanted.insert(ref_type, targets(&field, rule, entries)?);
    }
    for rule in &kind.references {
        let count = wanted.get(rule.ref_type.as_str()).map_or(0, Vec::len);
        if count < usize::try_from(rule.min).unwrap_or(usize::MAX) {
            let message = format!(
                "required reference type \"{}\" missing for {} (min {})",
                rule.ref_type, kind.kind, rule.min
            );
            let field = format!("references.{}", rule.ref_type);
            return Err(Failure::invalid(&field, Some("min"), message));
        }
    }
    resolve(state, tenant, kind, wanted).await
}

fn targets(field: &str, rule: &ReferenceRule, entries: &Value) -> Result<Vec<ResourceId>, Failure> {
    let Value::Array(entries) = entries else {
        return Err(Failure::invalid(
            field,
            None,
            format!("field '{field}' must be an array"),
        ));
    };
    let most = usize::try_from(rule.max).unwrap_or(usize::MAX);
    if entries.len() > MAX_TARGETS || (rule.max > 0 && entries.len() > most) {
        let most = if rule.max > 0 { most } else { MAX_TARGETS };
        let message = format!(
            "reference type \"{}\" exceeds max count {most}",
            rule.ref_type
        );
        return Err(Failure::invalid(field, Some("max"), message));
    }
    let mut ids = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let at = format!("{field}[{index}]");
        let id = entry.get("id").and_then(Value::as_str).unwrap_or_default();
        if id.is_empty() {
            return Err(Failure::invalid(
                &format!("{at}.id"),
                Some("required"),
                "id is required",
            ));
        }
        if let Some(kind) = entry.get("kind").and_then(Value::as_str)
            && kind != rule.target_kind
        {
            let message = format!(
                "kind \"{kind}\" does not match expected target kind \"{}\"",
                rule.target_kind
            );
            return Err(Failure::invalid(
                &format!("{at}.kind"),
                Some("enum"),
                message,
            ));
        }
        let Some(target) = ResourceId::parse(id) else {
            return Err(gone(&at, rule, id, "not found"));
        };
        if ids.contains(&target) {
            let message = format!("duplicate target id \"{id}\"");
            return Err(Failure::invalid(
                &format!("{at}.id"),
                Some("unique"),
                message,
            ));
        }
        ids.push(target);
    }
    Ok(ids)
}

/// Looks the targets up: they must exist, be of the right kind, and not be going.
async fn resolve(
    state: &ApiState,
    tenant: &Store,
    kind: &Kind,
    wanted: BTreeMap<&str, Vec<ResourceId>>,
) -> Result<References, Failure> {
    let ids: Vec<ResourceId> = wanted.values().flatten().copied().collect();
    if ids.is_empty() {
        return Ok(References::new());
    }
    let found: Vec<Resource> = tenant.resources(&ids).await?;
    let mut references = References::new();
    for rule in &kind.references {
        let Some(ids) = wanted.get(rule.ref_type.as_str()) else {
            continue;
        };
        let plural = state
            .kinds
            .kind(&rule.target_kind)
            .map_or("", |kind| kind.plural.as_str());
        let mut targets = Vec::with_capacity(ids.len());
        for (index, id) in ids.iter().enumerate() {
            let at = format!("references.{}[{index}]", rule.ref_type);
            let target = found
                .iter()
                .find(|target| target.id == *id && target.kind == rule.target_kind)
                .ok_or_else(|| gone(&at, rule, &id.to_string(), "not found"))?;
            if target.is_deleting() {
                return Err(gone(&at, rule, &id.to_string(), "is marked for deletion"));
            }
            targets.push(Reference {
                target: ObjectReference {
                    id: *id,
                    kind: rule.target_kind.clone(),
                    href: format!("{BASE_PATH}/{plural}/{id}"),
                },
                missing: false,
            });
        }
        if !targets.is_empty() {
            references.insert(rule.ref_type.clone(), targets);
        }
    }
    Ok(references)
}

fn gone(at: &str, rule: &ReferenceRule, id: &str, what: &str) -> Failure {
    let message = format!("target {} \"{id}\" {what}", rule.target_kind);
    Failure::invalid(&format!("{at}.id"), None, message)
}

//! From what a manifest wants to what must be done about it.

use hyperfleet_client::RemoteResource;
use hyperfleet_core::effect::Effect;
use serde_json::{Map, Value, json};

use super::exit::Exit;
use super::failure::Failure;
use super::fleet::{Fleet, quoted};
use super::kinds::KindInfo;
use super::manifest::{Manifest, Parent, bare};

/// A manifest, and what the server has of it.
#[derive(Debug)]
pub(crate) struct Intent<'f> {
    pub(crate) manifest: Manifest,
    pub(crate) kind: &'f KindInfo,
    pub(crate) parent: Option<RemoteResource>,
    pub(crate) existing: Option<RemoteResource>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    Create(Value),
    /// Only the fields that are other than they were.
    Change(Value),
    Nothing,
}

impl Step {
    /// What is said when it is done: `cluster/x created`.
    pub(crate) fn done(&self) -> &'static str {
        match self {
            Step::Create(_) => "created",
            Step::Change(_) => "configured",
            Step::Nothing => "unchanged",
        }
    }
}

impl<'f> Intent<'f> {
    /// Looks up what there is.
    pub(crate) async fn of(
        fleet: &'f Fleet,
        manifest: Manifest,
        parent: Option<&str>,
    ) -> Result<Intent<'f>, Failure> {
        let place = manifest.place.clone();
        let found = Intent::look_up(fleet, manifest, parent).await;
        found.map_err(|failure| failure.while_doing(place))
    }

    async fn look_up(
        fleet: &'f Fleet,
        manifest: Manifest,
        parent: Option<&str>,
    ) -> Result<Intent<'f>, Failure> {
        let kind = fleet.kind(&manifest.kind).await?;
        if kind.is_every() {
            return Err(Failure::usage(format!("`{}` is no kind", manifest.kind)));
        }
        let parent = match &manifest.parent {
            Some(Parent::Id(id)) => {
                let found = fleet.client.get("resources", id).await;
                Some(found.map_err(|error| fleet.told(error))?)
            }
            Some(Parent::Word(word)) => fleet.parent_for(kind, Some(word)).await?,
            // A flag is for the children among what a file holds.
            None if kind.parent_kind.is_none() => None,
            None => fleet.parent_for(kind, parent).await?,
        };
        if let (Some(parent_kind), None) = (&kind.parent_kind, &parent) {
            return Err(Failure::usage(format!(
                "a {} belongs to a {parent_kind}, and nothing says to which",
                kind.kind
            ))
            .hint("write `parent: KIND/NAME` into it, or use --parent"));
        }
        let existing = there(fleet, kind, &manifest.name, parent.as_ref()).await?;
        Ok(Intent {
            manifest,
            kind,
            parent,
            existing,
        })
    }

    pub(crate) fn step(&self) -> Step {
        match &self.existing {
            None => Step::Create(self.body()),
            Some(existing) => {
                let changes = changes(&self.manifest.wanted, &existing.raw);
                match changes.is_empty() {
                    true => Step::Nothing,
                    false => Step::Change(Value::Object(changes)),
                }
            }
        }
    }

    /// What creates it.
    pub(crate) fn body(&self) -> Value {
        let mut body = json!({"kind": self.kind.kind, "name": self.manifest.name, "spec": {}});
        for (name, value) in &self.manifest.wanted {
            body[name] = value.clone();
        }
        if let Some(parent) = &self.parent {
            body["owner_references"] = json!({"id": parent.id});
        }
        body
    }

    pub(crate) fn called(&self) -> String {
        format!("{}/{}", self.kind.singular, self.manifest.name)
    }

    /// Does it, or has it tried; the resource as it is then.
    pub(crate) async fn carry_out(
        &self,
        fleet: &Fleet,
        step: &Step,
        effect: Effect,
    ) -> Result<RemoteResource, Failure> {
        let plural = &self.kind.plural;
        let done = match (step, &self.existing) {
            (Step::Nothing, Some(existing)) => return Ok(existing.clone()),
            (Step::Change(body), Some(existing)) => {
                let generation = Some(existing.generation);
                fleet
                    .client
                    .patch(plural, &existing.id, body, generation, effect)
                    .await
            }
            (Step::Create(body), _) => fleet.client.create_as(plural, body, effect).await,
            (Step::Change(_) | Step::Nothing, None) => {
                return Err(Failure::new(Exit::Failed, "there is nothing to change"));
            }
        };
        done.map_err(|error| fleet.told(error).while_doing(self.called()))
    }
}

/// Which fields are wanted other than they are.
fn changes(wanted: &Map<String, Value>, existing: &Value) -> Map<String, Value> {
    let nothing = json!({});
    wanted
        .iter()
        .filter(|(name, value)| {
            let old = existing.get(*name).filter(|old| !old.is_null());
            let new = match value {
                Value::Null => &nothing,
                value => value,
            };
            bare(name, old.unwrap_or(&nothing)) != bare(name, new)
        })
        .map(|(name, value)| match value {
            // The server takes null for "not given".
            Value::Null => (name.clone(), nothing.clone()),
            value => (name.clone(), value.clone()),
        })
        .collect()
}

/// The one of this name that stays. One that is on its way out keeps its place until it is gone.
async fn there(
    fleet: &Fleet,
    kind: &KindInfo,
    name: &str,
    parent: Option<&RemoteResource>,
) -> Result<Option<RemoteResource>, Failure> {
    let mut search = format!("name = {} AND deleted_time IS NULL", quoted(name));
    if let Some(parent) = parent {
        search.push_str(&format!(" AND owner_id = {}", quoted(&parent.id)));
    }
    let query = hyperfleet_client::ListQuery {
        search: Some(search),
        size: Some(2),
        ..hyperfleet_client::ListQuery::default()
    };
    let page = fleet.client.list(&kind.plural, &query).await;
    let mut found = page.map_err(|error| fleet.told(error))?.items;
    match found.len() {
        0 | 1 => Ok(found.pop()),
        _ => Err(Failure::new(
            Exit::Conflict,
            format!("several {} are called `{name}`", kind.plural),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_other_than_it_was_is_changed() {
        let existing = json!({
            "spec": {"a": 1}, "labels": {"x": "y"}, "references": {"v": [{"id": "1", "href": "/h", "kind": "V"}]},
        });
        let changed = |wanted: Value| -> Vec<String> {
            let wanted = wanted.as_object().unwrap();
            changes(wanted, &existing).keys().cloned().collect()
        };
        assert!(changed(json!({"spec": {"a": 1}, "references": {"v": [{"id": "1"}]}})).is_empty());
        assert_eq!(
            changed(json!({"spec": {"a": 2}, "labels": {"x": "y"}})),
            ["spec"]
        );
        assert_eq!(changed(json!({"labels": {}})), ["labels"]);
        assert_eq!(changed(json!({"labels": null})), ["labels"]);
        assert!(changed(json!({})).is_empty());
    }
}

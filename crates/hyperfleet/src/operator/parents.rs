//! The names of parents: a child knows only the id of its own.

use std::collections::HashMap;

use hyperfleet_client::{ListQuery, RemoteResource, StatusCode};

use super::failure::Failure;
use super::fleet::{Fleet, quoted};

/// As many ids as fit into one search.
const AT_ONCE: usize = 80;
/// A watch goes on for days: then the names are learnt anew now and then.
const MOST: usize = 10_000;

/// Names that were asked for already.
#[derive(Debug, Default)]
pub(crate) struct ParentNames(HashMap<String, String>);

impl ParentNames {
    /// Asks for the names that are not known yet.
    pub(crate) async fn learn(
        &mut self,
        fleet: &Fleet,
        children: &[RemoteResource],
    ) -> Result<(), Failure> {
        if self.0.len() > MOST {
            self.0.clear();
        }
        let mut unknown: Vec<&str> = children
            .iter()
            .filter_map(|child| Some(child.owner_references.as_ref()?.id.as_str()))
            .filter(|id| !self.0.contains_key(*id))
            .collect();
        unknown.sort_unstable();
        unknown.dedup();
        let mut learnt = Vec::new();
        for ids in unknown.chunks(AT_ONCE) {
            let ids: Vec<String> = ids.iter().map(|id| quoted(id)).collect();
            let query = ListQuery {
                search: Some(format!("id IN [{}]", ids.join(", "))),
                fields: Some("name,kind".to_owned()),
                size: Some(100),
                ..ListQuery::default()
            };
            match fleet.client.list("resources", &query).await {
                Ok(page) => learnt.extend(page.items),
                // Whoever may see children but not their parents sees ids.
                Err(error) if error.status() == Some(StatusCode::FORBIDDEN) => {}
                Err(error) => return Err(fleet.told(error)),
            }
        }
        let named = learnt.into_iter().map(|parent| {
            let name = super::fleet::called(&parent);
            (parent.id, name)
        });
        self.0.extend(named);
        Ok(())
    }

    /// What the parent of a child is called; its id if it could not be learnt.
    pub(crate) fn of<'a>(&'a self, child: &'a RemoteResource) -> Option<&'a str> {
        let id = child.owner_references.as_ref()?.id.as_str();
        Some(self.0.get(id).map_or(id, String::as_str))
    }
}

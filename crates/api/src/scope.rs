//! Which resources a route speaks of.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::kind::Kind;
use hyperfleet_core::problem::Code;
use hyperfleet_core::resource::Resource;
use hyperfleet_store::{Owner, Store};

use crate::failure::Failure;

/// A route's kind and, on nested routes, the kind of the parent in its path. Made once when the routes are.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    /// `None` on the routes that take every kind.
    pub(crate) kind: Option<Kind>,
    pub(crate) parent: Option<Kind>,
}

/// The ids in the path of a nested or flat item route, outermost first.
pub(crate) struct Ids(pub(crate) Vec<String>);

impl<S: Send + Sync> FromRequestParts<S> for Ids {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let path = Path::<Vec<String>>::from_request_parts(parts, state).await;
        path.map(|Path(ids)| Ids(ids)).map_err(|_| {
            // Ids are opaque: one that is no text is like any other that nothing has.
            Failure::new(Code::NotFound, "The path holds an id that is not UTF-8")
        })
    }
}

impl Scope {
    /// What its resources are called in a sentence.
    pub(crate) fn noun(&self) -> &str {
        self.kind
            .as_ref()
            .map_or("Resource", |kind| kind.kind.as_str())
    }

    pub(crate) fn kind_name(&self) -> Option<&str> {
        self.kind.as_ref().map(|kind| kind.kind.as_str())
    }

    /// The parent in the path, which must exist in the tenant; everything is in scope on a flat route.
    pub(crate) async fn owner(&self, store: &Store, ids: &[String]) -> Result<Owner, Failure> {
        Ok(match self.parent(store, ids).await? {
            None => Owner::Any,
            Some(parent) => Owner::Is(parent.id),
        })
    }

    /// The parent resource in the path of a nested route.
    pub(crate) async fn parent(
        &self,
        store: &Store,
        ids: &[String],
    ) -> Result<Option<Resource>, Failure> {
        let (Some(kind), Some(id)) = (&self.parent, ids.first()) else {
            return Ok(None);
        };
        let missing = || Failure::not_found(&kind.kind, id);
        let parent_id = ResourceId::parse(id).ok_or_else(missing)?;
        let parent = store
            .resource(Some(&kind.kind), Owner::Any, parent_id)
            .await?;
        match parent {
            Some(parent) => Ok(Some(parent)),
            None => {
                let flat = Scope {
                    kind: Some(kind.clone()),
                    parent: None,
                };
                Err(flat.missing(store, Owner::Any, parent_id).await)
            }
        }
    }

    /// The failure for an item that is not there, with what remains of it if it ever was.
    pub(crate) async fn missing(&self, store: &Store, owner: Owner, id: ResourceId) -> Failure {
        let failure = Failure::not_found(self.noun(), &id.to_string());
        match store.deletion(self.kind_name(), owner, id).await {
            Ok(record) => Failure {
                deletion: record.map(Box::new),
                ..failure
            },
            // Whether it ever existed is part of the answer: a guess would be acted upon.
            Err(error) => error.into(),
        }
    }

    /// The id of the item itself: the last in the path.
    pub(crate) fn item(&self, ids: &[String]) -> Result<ResourceId, Failure> {
        let id = ids.last().map_or("", String::as_str);
        ResourceId::parse(id).ok_or_else(|| Failure::not_found(self.noun(), id))
    }
}

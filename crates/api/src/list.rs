//! GET of many resources: a page that is counted, or a stretch of a walk.

mod token;

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use hyperfleet_core::list::{KeysetOrder, Stretch};
use hyperfleet_store::{Owner, PageQuery, ResourceFilter, Store, StretchQuery};

use crate::authz::Verb;
use crate::caller::Caller;
use crate::failure::Failure;
use crate::params::Pairs;
use crate::query::{ListQuery, Part};
use crate::scope::{Ids, Scope};
use crate::state::ApiState;
use token::{Fingerprint, Token};

pub(crate) async fn list(
    State(state): State<ApiState>,
    Extension(scope): Extension<Arc<Scope>>,
    Ids(ids): Ids,
    caller: Caller,
    pairs: Pairs,
) -> Result<Response, Failure> {
    let query = ListQuery::read(&pairs, &scope, &state)?;
    if let Some(kind) = scope.kind_name() {
        caller.check_kind(Verb::List, kind)?;
    } else if !caller.access.may(Verb::List, query.kind.as_deref()) {
        return Err(caller.lacks(Verb::List, query.kind.as_deref().unwrap_or("resources")));
    }
    let owner = scope
        .owner(&caller.within_tenant(&state.store), &ids)
        .await?;
    let store = caller.reading(&state.store, Verb::List, &scope);
    let filter = ResourceFilter {
        kind: scope.kind_name().or(query.kind.as_deref()),
        owner,
        search: query.search.as_ref(),
        reference: query
            .reference
            .as_ref()
            .map(|(ref_type, target)| (ref_type.as_str(), target.as_str())),
    };
    match &query.part {
        Part::Page { order, page } => {
            let page = store
                .page(&PageQuery {
                    filter,
                    order,
                    page: *page,
                    fields: query.fields.as_ref(),
                })
                .await?;
            Ok(Json(page).into_response())
        }
        Part::Stretch { order, limit, from } => {
            let fingerprint = fingerprint(&pairs, &scope, owner);
            let from = from
                .as_deref()
                .map(|text| Token::read(text, &fingerprint, *order));
            let walk = Walk {
                store: &store,
                query: &query,
                filter,
                order: *order,
                limit: *limit,
            };
            walk.stretch(from.transpose()?, &fingerprint).await
        }
    }
}

struct Walk<'a> {
    store: &'a Store,
    query: &'a ListQuery,
    filter: ResourceFilter<'a>,
    order: KeysetOrder,
    limit: u32,
}

impl Walk<'_> {
    async fn stretch(&self, from: Option<Token>, query: &Fingerprint) -> Result<Response, Failure> {
        let store = self.store;
        // Taken before anything is read, and handed on from stretch to stretch: what changes during the walk is told
        // to whoever watches from there.
        let (after, since) = match from {
            Some(token) => (Some(token.after), token.since),
            None => (None, store.position().await?.to_string()),
        };
        let (items, next) = store
            .stretch(&StretchQuery {
                filter: self.filter,
                order: self.order,
                after: after.as_ref(),
                limit: self.limit,
                fields: self.query.fields.as_ref(),
            })
            .await?;
        let next = next.map(|after| {
            let since = since.clone();
            Token { after, since }.write(query)
        });
        Ok(Json(Stretch {
            items,
            r#continue: next,
            since: Some(since),
        })
        .into_response())
    }
}

/// Everything a walk depends on but its pace, so that none goes on in another list.
fn fingerprint(pairs: &Pairs, scope: &Scope, owner: Owner) -> Fingerprint {
    let owner = match owner {
        Owner::Any => String::new(),
        Owner::Is(id) => id.to_string(),
    };
    let mut parts = vec![scope.kind_name().unwrap_or_default(), owner.as_str()];
    for name in [
        "search",
        "order",
        "fields",
        "ref_type",
        "ref_target_id",
        "kind",
    ] {
        parts.push(name);
        parts.extend(pairs.all(name).map(str::trim));
    }
    Fingerprint::of(&parts)
}

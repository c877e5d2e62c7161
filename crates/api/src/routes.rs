//! Which path leads where.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Request};
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get, patch, post, put};
use hyperfleet_core::problem::Code;

use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};

use crate::admit::{self, Door};
use crate::failure::Failure;
use crate::metrics::HttpMetrics;
use crate::openapi::Document;
use crate::operation::{Endpoint, Operation, Requirement, endpoints};
use crate::state::ApiState;
use crate::{
    can_i, create, delete, history, metadata, observe, openapi, read, sentinels, statuses, swagger,
    watch,
};

/// Answers from this size on are compressed.
const WORTH_IT: u64 = 1024;

/// The whole API as one service.
pub fn router(state: ApiState, metrics: HttpMetrics) -> Router {
    let document = Arc::new(Document::new(&state));
    let router = endpoints(&state.kinds)
        .into_iter()
        .fold(swagger::assets(), |router, endpoint| {
            mount(router, endpoint, &state)
        });
    router
        .fallback(unknown_path)
        .method_not_allowed_fallback(unknown_method)
        .layer(Extension(document))
        .layer(from_fn_with_state(
            (state.clone(), metrics),
            observe::observe,
        ))
        .layer(compression())
        .with_state(state)
}

/// For callers who ask for it. Small answers are not worth it, and a watch must not wait for a block to fill.
fn compression() -> CompressionLayer<impl Predicate> {
    CompressionLayer::new().compress_when(SizeAbove::new(WORTH_IT).and(NotForContentType::SSE))
}

/// One trailing slash means nothing: it leads to the same place.
fn mount(router: Router<ApiState>, endpoint: Endpoint, state: &ApiState) -> Router<ApiState> {
    let path = &endpoint.path;
    let mut methods = handler(endpoint.operation);
    let public = endpoint.operation.requirement() == Requirement::Nobody;
    if state.security.is_on() && !public {
        let kind = endpoint.scope.as_ref().and_then(|scope| scope.kind_name());
        let door = Door {
            state: state.clone(),
            operation: endpoint.operation,
            kind: kind.map(str::to_owned),
        };
        methods = methods.layer(from_fn_with_state(Arc::new(door), admit::admit));
    }
    if let Some(scope) = endpoint.scope {
        methods = methods.layer(Extension(Arc::new(scope)));
    }
    router
        .route(&format!("{path}/"), methods.clone())
        .route(path, methods)
}

fn handler(operation: Operation) -> MethodRouter<ApiState> {
    match operation {
        Operation::List => get(watch::list_or_watch),
        Operation::Create => post(create::create),
        Operation::Read => get(read::read),
        Operation::Patch => patch(crate::patch::patch),
        Operation::Delete => axum::routing::delete(delete::delete),
        Operation::ForceDelete => post(delete::force_delete),
        Operation::History => get(history::history),
        Operation::ReadStatuses => get(statuses::read),
        Operation::PutStatus => put(statuses::put),
        Operation::PostStatus => post(statuses::post),
        Operation::Metadata => get(metadata::metadata),
        Operation::Audit => get(history::audit),
        Operation::NoteInAudit => post(history::note),
        Operation::ListSentinels => get(sentinels::list),
        Operation::AnnounceSentinel => put(sentinels::announce),
        Operation::WithdrawSentinel => axum::routing::delete(sentinels::withdraw),
        Operation::OpenApi => get(openapi::serve),
        Operation::OpenApiPage => get(swagger::page),
        Operation::CanI => get(can_i::can_i),
    }
}

async fn unknown_path(request: Request) -> Failure {
    let path = request.uri().path();
    Failure::new(
        Code::EndpointNotFound,
        format!("The requested endpoint '{path}' does not exist"),
    )
}

async fn unknown_method(request: Request) -> Failure {
    let (method, path) = (request.method(), request.uri().path());
    Failure::new(
        Code::MethodNotAllowed,
        format!("'{path}' does not take {method}; see the Allow header"),
    )
}

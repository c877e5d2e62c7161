//! Which path leads where: for every configured kind the same set, flat and under its parent.

use axum::Router;
use axum::extract::{Extension, Request};
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get, post};
use hyperfleet_core::kind::Kind;
use hyperfleet_core::problem::Code;
use hyperfleet_core::resource::BASE_PATH;

use crate::failure::Failure;
use crate::metrics::HttpMetrics;
use crate::scope::Scope;
use crate::state::ApiState;
use crate::{create, delete, history, metadata, observe, patch, read, statuses, watch};

/// The whole API as one service.
pub fn router(state: ApiState, metrics: HttpMetrics) -> Router {
    let mut router = Router::new()
        .route("/api/hyperfleet", get(metadata::metadata))
        .route(&format!("{BASE_PATH}/audit"), get(history::audit));
    for kind in state.kinds.kinds() {
        let flat = Scope {
            kind: Some(kind.clone()),
            parent: None,
        };
        router = mount(router, &format!("{BASE_PATH}/{}", kind.plural), &flat);
        if let Some(parent) = state.kinds.parent(kind) {
            let nested = Scope {
                kind: Some(kind.clone()),
                parent: Some(parent.clone()),
            };
            router = mount(router, &nested_path(parent, kind), &nested);
        }
    }
    let any = Scope {
        kind: None,
        parent: None,
    };
    router = mount(router, &format!("{BASE_PATH}/resources"), &any);
    router
        .fallback(unknown_path)
        .method_not_allowed_fallback(unknown_method)
        .layer(from_fn_with_state(
            (state.clone(), metrics),
            observe::observe,
        ))
        .with_state(state)
}

fn nested_path(parent: &Kind, kind: &Kind) -> String {
    format!(
        "{BASE_PATH}/{}/{{parent_id}}/{}",
        parent.plural, kind.plural
    )
}

/// The routes of one scope. A path with one trailing slash means the path without it.
fn mount(router: Router<ApiState>, path: &str, scope: &Scope) -> Router<ApiState> {
    let routes: [(String, MethodRouter<ApiState>); 5] = [
        (
            path.to_owned(),
            get(watch::list_or_watch).post(create::create),
        ),
        (
            format!("{path}/{{id}}"),
            get(read::read).patch(patch::patch).delete(delete::delete),
        ),
        (
            format!("{path}/{{id}}/force-delete"),
            post(delete::force_delete),
        ),
        (format!("{path}/{{id}}/history"), get(history::history)),
        (
            format!("{path}/{{id}}/statuses"),
            get(statuses::read).put(statuses::put).post(statuses::post),
        ),
    ];
    routes.into_iter().fold(router, |router, (path, methods)| {
        let methods = methods.layer(Extension(scope.clone()));
        router
            .route(&format!("{path}/"), methods.clone())
            .route(&path, methods)
    })
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

//! The door: who asks, for which tenant, and whether they may ask this at all. Stands before every route but the public
//! ones, unless neither callers nor tenants are told apart.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyperfleet_core::problem::Code;
use hyperfleet_store::Denial;
use serde_json::json;

use crate::access::Access;
use crate::auth::Principal;
use crate::authz::{ADAPTER, Grants, SENTINEL, Subject, Verb};
use crate::caller::{Caller, RequestId};
use crate::failure::Failure;
use crate::limits::Class;
use crate::operation::{Operation, Requirement};
use crate::state::ApiState;
use crate::tenant::Tenant;

/// Callers without a name share one budget, and one name in the audit log.
const UNNAMED: &str = "unknown";

/// One operation's door.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) state: ApiState,
    pub(crate) operation: Operation,
    /// The kind in the route, if there is one.
    pub(crate) kind: Option<String>,
}

pub(crate) async fn admit(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    // The body cannot be shared with another thread, and is nobody's business here.
    let (mut parts, body) = request.into_parts();
    let request_id = match parts.extensions.get::<RequestId>() {
        Some(RequestId(id)) => id.clone(),
        None => "".into(),
    };
    let mut caller = Caller {
        identity: UNNAMED.into(),
        ..Caller::anonymous(request_id)
    };
    let (method, uri) = (parts.method.clone(), parts.uri.clone());
    let response = match door.check(&parts, &mut caller).await {
        Ok(()) => {
            parts.extensions.insert(caller.clone());
            next.run(Request::from_parts(parts, body)).await
        }
        Err(failure) => failure.into_response(),
    };
    if let Some(failure) = response.extensions().get::<Failure>()
        && failure.is_denial()
    {
        door.record(&caller, method.as_str(), uri.path(), failure)
            .await;
    }
    response
}

impl Door {
    /// Fills in who asks as far as it becomes known, so that a refusal can say it.
    async fn check(&self, parts: &Parts, caller: &mut Caller) -> Result<(), Failure> {
        let security = &self.state.security;
        let headers = &parts.headers;
        let mut class = Class::User;
        if let Some(authenticator) = &security.authenticator {
            let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
            let peer = peer.map(|ConnectInfo(address)| address.ip());
            let now = self.state.now().timestamp();
            let principal = authenticator.authenticate(headers, peer, now).await?;
            let grants = self.grants(&principal);
            class = class_of(&grants);
            caller.access.grants = Some(grants);
            match principal.name {
                Ok(name) => caller.identity = name,
                Err(why) if self.writes() => {
                    let detail = format!("Unable to resolve caller identity: {why}");
                    return Err(Failure::new(Code::Unauthenticated, detail));
                }
                Err(_) => {}
            }
        } else {
            caller.identity = Caller::anonymous("".into()).identity;
        }
        self.tenant(headers, caller)?;
        self.permission(caller)?;
        if security.authenticator.is_some() {
            let now = Instant::now();
            match self.writes() {
                true => security.limits.write(&caller.identity, class, now)?,
                false => security.limits.read(&caller.identity, now)?,
            }
        }
        Ok(())
    }

    fn verb(&self) -> Option<Verb> {
        match self.operation.requirement() {
            Requirement::Verb(verb) => Some(verb),
            Requirement::Nobody | Requirement::Anybody => None,
        }
    }

    fn writes(&self) -> bool {
        self.verb().is_some_and(Verb::writes)
    }

    fn grants(&self, principal: &Principal) -> Arc<Grants> {
        let verified = &principal.verified;
        let look_up = || {
            let grants = self.state.security.policy.as_ref().map(|policy| {
                policy.grants(Subject {
                    identity: principal.name.as_deref().ok(),
                    groups: &verified.groups,
                    issuer: &verified.issuer_url,
                })
            });
            Arc::new(grants.unwrap_or_default())
        };
        match principal.own_name {
            true => verified.grants.get_or_init(look_up).clone(),
            false => look_up(),
        }
    }

    fn tenant(&self, headers: &HeaderMap, caller: &mut Caller) -> Result<(), Failure> {
        let Some(tenants) = &self.state.security.tenants else {
            return Ok(());
        };
        caller.access.tenant = tenants.resolve(headers)?;
        let owners_only = [Verb::Create, Verb::Patch, Verb::Delete, Verb::ForceDelete];
        if caller.access.tenant == Tenant::System
            && self.verb().is_some_and(|verb| owners_only.contains(&verb))
        {
            let detail = "system identities may only write status and conditions";
            return Err(Failure::new(Code::Forbidden, detail));
        }
        if let (Tenant::Of(_), Some(verb)) = (&caller.access.tenant, self.verb())
            && verb.is_for_all_tenants()
        {
            let object = self.operation.object(None);
            let detail = format!("only system identities {verb} {object}: it concerns all tenants");
            return Err(Failure::new(Code::Forbidden, detail));
        }
        Ok(())
    }

    fn permission(&self, caller: &Caller) -> Result<(), Failure> {
        let Some(verb) = self.verb() else {
            return Ok(());
        };
        let kind = self.kind.as_deref();
        // A list may be watched, and who may only watch must get as far as the handler, which knows.
        let may = |access: &Access| match verb {
            Verb::List => access.may(Verb::List, kind) || access.may(Verb::Watch, kind),
            verb => access.may(verb, kind),
        };
        if may(&caller.access) {
            return Ok(());
        }
        Err(caller.lacks(verb, self.operation.object(kind)))
    }

    /// Keeps who was refused what. Refusals of nobody in particular are bounded: they cost their sender nothing.
    async fn record(&self, caller: &Caller, method: &str, path: &str, failure: &Failure) {
        let tenancy = caller.access.tenant.stamp();
        tracing::info!(
            actor = %caller.identity, request_id = %caller.request_id, method, path,
            code = failure.code.as_str(), detail = failure.detail, "a request was refused"
        );
        if !self.state.security.denials.keep(&caller.identity) {
            return;
        }
        let detail = json!({"method": method, "path": path, "code": failure.code.as_str()});
        let denial = Denial {
            author: caller.author(self.state.now()),
            kind: self.kind.as_deref(),
            tenancy: &tenancy,
            reason: &failure.detail,
            detail: &detail,
        };
        if let Err(error) = self.state.store.record_denial(&denial).await {
            tracing::error!(%error, "a refusal could not be written to the audit log");
        }
    }
}

fn class_of(grants: &Grants) -> Class {
    if grants.has_role(ADAPTER) {
        Class::Adapter
    } else if grants.has_role(SENTINEL) {
        Class::Sentinel
    } else {
        Class::User
    }
}

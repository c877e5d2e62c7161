//! Requests on resources.

use std::sync::Arc;

use axum::extract::Request;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde_json::{Value, json};

use super::negotiate::{Form, form};
use super::path::Target;
use super::{Front, body, json_response, listing, table, text_response, watch};
use crate::catalog::Resource;
use crate::cluster::{self, Answer, Call, DeleteOptions, Page};
use crate::events;
use crate::failure::Failure;
use crate::patch;
use crate::query::Query;

pub(super) async fn serve(
    front: &Arc<Front>,
    target: Target,
    request: Request,
) -> Result<Response, Failure> {
    let (parts, stream) = request.into_parts();
    let agent = parts
        .headers
        .get(header::USER_AGENT)
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default();
    let options = match parts.method {
        Method::POST => "CreateOptions",
        Method::PUT => "UpdateOptions",
        Method::PATCH => "PatchOptions",
        _ => "DeleteOptions",
    };
    let query = Query::parse(parts.uri.query().unwrap_or_default(), agent, options)?;
    let (shown, resource) = {
        let state = front.cluster.lock();
        let shown = state
            .catalog
            .find(&target.group, &target.version, &target.plural)
            .ok_or_else(Failure::no_such_path)?;
        let resource = events::stored_as(&state.catalog, &shown);
        (shown, resource)
    };

    if !target.subresource.is_empty() && !resource.subresources.contains(&target.subresource) {
        return Err(Failure::no_such_path());
    }
    if !target.namespace.is_empty() && !resource.namespaced {
        return Err(Failure::no_such_path());
    }
    let form = form(&parts.headers)?;
    let bytes = body::read(stream).await?;
    let exchange = Exchange {
        front,
        target: &target,
        resource: &resource,
        shown: &shown,
        query: &query,
        headers: &parts.headers,
        form,
    };
    let collection = target.name.is_empty();
    match (&parts.method, collection) {
        (&Method::GET | &Method::HEAD, true) if query.watch => exchange.watch(),
        (&Method::GET | &Method::HEAD, true) => exchange.list(),
        (&Method::GET | &Method::HEAD, false) => exchange.get(),
        (&Method::POST, _) => exchange.create(&bytes),
        (&Method::PUT, false) => exchange.update(&bytes),
        (&Method::PATCH, false) => exchange.patch(&bytes),
        (&Method::DELETE, true) => exchange.delete_collection(&bytes),
        (&Method::DELETE, false) => exchange.delete(&bytes),
        _ => Err(Failure::method_not_allowed()),
    }
}

pub(super) struct Exchange<'a> {
    pub front: &'a Arc<Front>,
    target: &'a Target,
    pub resource: &'a Arc<Resource>,
    /// The face of the resource the client asked for; differs from `resource` for events only.
    pub shown: &'a Arc<Resource>,
    pub query: &'a Query,
    headers: &'a HeaderMap,
    pub form: Form,
}

impl Exchange<'_> {
    pub(super) fn call(&self) -> Call<'_> {
        Call {
            resource: self.resource,
            namespace: &self.target.namespace,
            name: &self.target.name,
            subresource: &self.target.subresource,
            query: self.query,
            now: chrono::Utc::now(),
        }
    }

    fn allow(&self, verb: &str) -> Result<(), Failure> {
        let allowed = match self.target.subresource.as_str() {
            "" => self.resource.allows(verb),
            "eviction" => verb == "create",
            "finalize" => verb == "update",
            _ => ["get", "update", "patch"].contains(&verb),
        };
        if allowed {
            Ok(())
        } else {
            Err(Failure::method_not_allowed())
        }
    }

    fn watch(&self) -> Result<Response, Failure> {
        self.allow("watch")?;
        watch::serve(self)
    }

    fn list(&self) -> Result<Response, Failure> {
        self.allow("list")?;
        let page = cluster::list(&self.front.cluster.lock(), &self.call())?;
        Ok(self.page(page))
    }

    fn page(&self, page: Page) -> Response {
        let mut metadata = json!({ "resourceVersion": page.revision.to_string() });
        if let Some(token) = page.continue_token {
            metadata["continue"] = token.into();
        }
        if let Some(remaining) = page.remaining {
            metadata["remainingItemCount"] = remaining.into();
        }
        let body = match self.form {
            Form::Table => table::of_list(self.resource, &page.items, metadata),
            Form::Metadata => {
                let items: Vec<Value> =
                    page.items.iter().map(|o| table::metadata_only(o)).collect();
                json!({ "kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "items": items })
            }
            Form::Object if !self.query.pretty => {
                return text_response(
                    StatusCode::OK,
                    listing::write(self.shown, &metadata, &page.items),
                );
            }
            Form::Object => {
                let text = listing::write(self.shown, &metadata, &page.items);
                serde_json::from_str(&text).unwrap_or_default()
            }
        };
        json_response(StatusCode::OK, &body, self.query.pretty)
    }

    fn get(&self) -> Result<Response, Failure> {
        self.allow("get")?;
        let state = self.front.cluster.lock();
        let answer = match self.target.subresource.as_str() {
            "scale" => cluster::read_scale(&state, &self.call())?,
            _ => Answer::ok(state.get(&self.call())?),
        };
        drop(state);
        Ok(self.answer(answer))
    }

    fn answer(&self, answer: Answer) -> Response {
        let code = StatusCode::from_u16(answer.code).unwrap_or(StatusCode::OK);
        let is_object = answer.object["kind"] == self.resource.kind.as_str();
        let body = match self.form {
            Form::Table if is_object => table::of_list(
                self.resource,
                &[Arc::clone(&answer.object)],
                json!({
                    "resourceVersion": answer.object["metadata"]["resourceVersion"],
                }),
            ),
            Form::Metadata if is_object => table::metadata_only(&answer.object),
            _ => events::outgoing(self.shown, &answer.object),
        };
        let mut response = json_response(code, &body, self.query.pretty);
        for warning in &answer.warnings {
            let text = format!(
                "299 - \"{}\"",
                warning.replace('\\', "\\\\").replace('"', "\\\"")
            );
            if let Ok(value) = HeaderValue::from_str(&text) {
                response.headers_mut().append(header::WARNING, value);
            }
        }
        response
    }

    fn object(&self, bytes: &[u8]) -> Result<Value, Failure> {
        Ok(events::incoming(
            self.shown,
            body::object(self.headers, bytes)?,
        ))
    }

    fn create(&self, bytes: &[u8]) -> Result<Response, Failure> {
        self.allow("create")?;
        let object = body::object(self.headers, bytes)?;
        if self.target.subresource == "eviction" {
            return self.evict(&object);
        }
        if !self.target.name.is_empty() {
            return Err(Failure::method_not_allowed());
        }
        if let Some(answer) = cluster::review(&self.call(), &object) {
            return Ok(self.answer(answer));
        }
        let object = events::incoming(self.shown, object);
        let answer = self
            .front
            .cluster
            .write(|state| cluster::create(state, &self.call(), object))?;
        Ok(self.answer(answer))
    }

    fn evict(&self, eviction: &Value) -> Result<Response, Failure> {
        let call = Call {
            subresource: "",
            ..self.call()
        };
        let options = DeleteOptions::parse(&call, eviction.get("deleteOptions"))?;
        self.front
            .cluster
            .write(|state| cluster::delete(state, &call, &options))?;
        let body = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201 });
        Ok(json_response(StatusCode::CREATED, &body, self.query.pretty))
    }

    fn update(&self, bytes: &[u8]) -> Result<Response, Failure> {
        self.allow("update")?;
        let object = self.object(bytes)?;
        let answer = self
            .front
            .cluster
            .write(|state| match self.target.subresource.as_str() {
                "scale" => cluster::write_scale(state, &self.call(), |scale| {
                    *scale = object;
                    Ok(())
                }),
                _ => cluster::update(state, &self.call(), object),
            })?;
        Ok(self.answer(answer))
    }

    fn patch(&self, bytes: &[u8]) -> Result<Response, Failure> {
        self.allow("patch")?;
        let kind = body::patch_kind(self.headers)?;
        let document = events::incoming(self.shown, body::patch(kind, bytes)?);
        let answer = self
            .front
            .cluster
            .write(|state| match self.target.subresource.as_str() {
                "scale" => cluster::write_scale(state, &self.call(), |scale| match kind {
                    cluster::PatchKind::Json => patch::json(scale, &document),
                    _ => patch::merge(scale, &document),
                }),
                _ => cluster::patch(state, &self.call(), kind, document),
            })?;
        Ok(self.answer(answer))
    }

    fn delete_options(&self, bytes: &[u8]) -> Result<DeleteOptions, Failure> {
        let body = if bytes.is_empty() {
            None
        } else {
            Some(body::object(self.headers, bytes)?)
        };
        DeleteOptions::parse(&self.call(), body.as_ref())
    }

    fn delete(&self, bytes: &[u8]) -> Result<Response, Failure> {
        self.allow("delete")?;
        let options = self.delete_options(bytes)?;
        let answer = self
            .front
            .cluster
            .write(|state| cluster::delete(state, &self.call(), &options))?;
        Ok(self.answer(answer))
    }

    fn delete_collection(&self, bytes: &[u8]) -> Result<Response, Failure> {
        self.allow("deletecollection")?;
        let options = self.delete_options(bytes)?;
        let (items, revision) = self
            .front
            .cluster
            .write(|state| cluster::delete_collection(state, &self.call(), &options))?;
        Ok(self.page(Page {
            items,
            revision,
            continue_token: None,
            remaining: None,
        }))
    }
}

//! A Kubernetes API server as a target.

use async_trait::async_trait;
use http::Request as HttpRequest;
use kube::Client;
use kube::api::{
    DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams, Preconditions,
    PropagationPolicy,
};
use kube::core::Request;
use serde_json::Value;

use crate::{
    Delete, Deletion, Failure, Mode, ObjectKind, ObjectRef, Operation, Propagation, Scope,
    Selector, Target, Transport, TransportError,
};

mod call;
mod classify;
mod connect;
mod discovery;
mod limiter;
mod survey;

pub(crate) use connect::reason;
pub use connect::{ConnectError, KubernetesConfig, pod_namespace};
use discovery::{Discovered, Known, Place};
use limiter::Limiter;

/// Objects of a list answered at once.
const PAGE: u32 = 500;

/// One API server, as one field manager.
pub struct KubernetesTransport {
    client: Client,
    limiter: Limiter,
    discovered: Discovered,
    config: KubernetesConfig,
}

/// What is being done to what, for the error.
struct Doing {
    operation: Operation,
    object: String,
}

impl Doing {
    fn failed(&self, failure: Failure) -> TransportError {
        TransportError {
            target: Target::Kubernetes,
            operation: self.operation,
            object: self.object.clone(),
            failure,
        }
    }

    fn request(
        &self,
        built: Result<HttpRequest<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<HttpRequest<Vec<u8>>, TransportError> {
        built.map_err(|error| self.invalid(error.to_string()))
    }

    fn invalid(&self, message: String) -> TransportError {
        self.failed(Failure::Invalid {
            causes: Vec::new(),
            message,
        })
    }
}

impl KubernetesTransport {
    /// Connects, and returns only once the server has answered. Takes some seconds at most.
    pub async fn connect(config: KubernetesConfig) -> Result<Self, ConnectError> {
        let client = connect::connect(&config).await?;
        Ok(Self {
            client,
            limiter: Limiter::new(config.qps, config.burst),
            discovered: Discovered::default(),
            config,
        })
    }

    async fn place(&self, kind: &ObjectKind, doing: &Doing) -> Result<Place, TransportError> {
        match self.discovered.get(kind) {
            Known::Yes(place) => return Ok(place),
            Known::No => return Err(doing.failed(unknown_kind(kind))),
            Known::Unknown => {}
        }
        check_path(doing, &kind.api_version.replacen('/', "-", 1))?;
        let path = discovery::version_path(&kind.api_version);
        let request = HttpRequest::get(path)
            .body(Vec::new())
            .map_err(|error| doing.invalid(error.to_string()))?;
        let list = match self.call(request, doing).await {
            Ok(answer) => serde_json::from_value(answer).map_err(|error| {
                doing.failed(Failure::Other {
                    status: None,
                    message: format!("the server's list of kinds is not readable: {error}"),
                })
            })?,
            Err(error) if matches!(error.failure, Failure::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        self.discovered.put(&kind.api_version, list);
        match self.discovered.get(kind) {
            Known::Yes(place) => Ok(place),
            _ => Err(doing.failed(unknown_kind(kind))),
        }
    }

    async fn collection(
        &self,
        object: &ObjectRef,
        doing: &Doing,
    ) -> Result<Request, TransportError> {
        check_path(doing, &object.name)?;
        if let Some(namespace) = &object.namespace {
            check_path(doing, namespace)?;
        }
        let place = self.place(&object.kind, doing).await?;
        if place.scope == Scope::Namespaced && object.namespace.is_none() {
            return Err(doing.invalid(format!(
                "{} lives in a namespace, but none is given",
                object.kind.kind
            )));
        }
        Ok(Request::new(discovery::collection_path(
            &object.kind,
            &place,
            object.namespace.as_deref(),
        )))
    }

    /// A 404 for an object we did not expect to be missing may mean that its kind went away.
    fn doubt(&self, kind: &ObjectKind, error: TransportError) -> TransportError {
        if matches!(error.failure, Failure::NotFound { .. }) {
            self.discovered.forget(&kind.api_version);
        }
        error
    }
}

#[async_trait]
impl Transport for KubernetesTransport {
    async fn scope(&self, kind: &ObjectKind) -> Result<Scope, TransportError> {
        let doing = Doing {
            operation: Operation::Discover,
            object: kind.to_string(),
        };
        Ok(self.place(kind, &doing).await?.scope)
    }

    async fn get(&self, object: &ObjectRef) -> Result<Option<Value>, TransportError> {
        let doing = doing(Operation::Get, object);
        let at = self.collection(object, &doing).await?;
        let request = doing.request(at.get(&object.name, &GetParams::default()))?;
        match self.call(request, &doing).await {
            Ok(found) => Ok(Some(found)),
            Err(error) if matches!(error.failure, Failure::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn list(
        &self,
        kind: &ObjectKind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Result<Vec<Value>, TransportError> {
        let doing = Doing {
            operation: Operation::List,
            object: format!("{} with {}", kind.kind, selector.query()),
        };
        if let Some(namespace) = namespace {
            check_path(&doing, namespace)?;
        }
        let place = self.place(kind, &doing).await?;
        let at = Request::new(discovery::collection_path(kind, &place, namespace));
        let mut params = ListParams::default().labels(&selector.query()).limit(PAGE);
        let mut found = Vec::new();
        loop {
            let request = doing.request(at.list(&params))?;
            let mut page = self.call(request, &doing).await?;
            if let Some(Value::Array(items)) = page.get_mut("items").map(Value::take) {
                found.extend(items.into_iter().map(|item| with_kind(item, kind)));
            }
            match page.pointer("/metadata/continue").and_then(Value::as_str) {
                Some(token) if !token.is_empty() => params = params.continue_token(token),
                _ => return Ok(found),
            }
        }
    }

    async fn apply(&self, manifest: &Value, mode: Mode) -> Result<Value, TransportError> {
        let object = described(Operation::Apply, manifest)?;
        let doing = doing(Operation::Apply, &object);
        let at = self.collection(&object, &doing).await?;
        let mut params = PatchParams::apply(&self.config.field_manager).force();
        params.dry_run = mode == Mode::DryRun;
        let request = doing.request(at.patch(&object.name, &params, &Patch::Apply(manifest)))?;
        let applied = self.call(request, &doing).await;
        applied.map_err(|error| self.doubt(&object.kind, error))
    }

    async fn create(&self, manifest: &Value) -> Result<Value, TransportError> {
        let object = described(Operation::Create, manifest)?;
        let doing = doing(Operation::Create, &object);
        let at = self.collection(&object, &doing).await?;
        let params = PostParams {
            field_manager: Some(self.config.field_manager.clone()),
            ..PostParams::default()
        };
        let body = manifest.to_string().into_bytes();
        let request = doing.request(at.create(&params, body))?;
        let created = self.call(request, &doing).await;
        created.map_err(|error| self.doubt(&object.kind, error))
    }

    async fn patch(&self, object: &ObjectRef, patch: &Value) -> Result<Value, TransportError> {
        let doing = doing(Operation::Patch, object);
        let at = self.collection(object, &doing).await?;
        let params = PatchParams {
            field_manager: Some(self.config.field_manager.clone()),
            ..PatchParams::default()
        };
        let request = doing.request(at.patch(&object.name, &params, &Patch::Merge(patch)))?;
        self.call(request, &doing).await
    }

    async fn delete(
        &self,
        object: &ObjectRef,
        options: &Delete,
    ) -> Result<Deletion, TransportError> {
        let doing = doing(Operation::Delete, object);
        let at = self.collection(object, &doing).await?;
        let policy = match options.propagation {
            Propagation::Background => PropagationPolicy::Background,
            Propagation::Foreground => PropagationPolicy::Foreground,
            Propagation::Orphan => PropagationPolicy::Orphan,
        };
        let guarded = options.uid.is_some() || options.resource_version.is_some();
        let params = DeleteParams {
            propagation_policy: Some(policy),
            preconditions: guarded.then(|| Preconditions {
                uid: options.uid.clone(),
                resource_version: options.resource_version.clone(),
            }),
            ..DeleteParams::default()
        };
        let request = doing.request(at.delete(&object.name, &params))?;
        match self.call(request, &doing).await {
            Ok(_) => Ok(Deletion::Accepted),
            Err(error) if matches!(error.failure, Failure::NotFound { .. }) => Ok(Deletion::Absent),
            Err(error) => Err(error),
        }
    }
}

fn doing(operation: Operation, object: &ObjectRef) -> Doing {
    Doing {
        operation,
        object: object.to_string(),
    }
}

fn described(operation: Operation, manifest: &Value) -> Result<ObjectRef, TransportError> {
    ObjectRef::of(manifest).map_err(|error| TransportError {
        target: Target::Kubernetes,
        operation,
        object: "the manifest".to_owned(),
        failure: Failure::Invalid {
            causes: vec![format!("{}: required", error.missing)],
            message: error.to_string(),
        },
    })
}

fn unknown_kind(kind: &ObjectKind) -> Failure {
    Failure::UnknownKind {
        api_version: kind.api_version.clone(),
        kind: kind.kind.clone(),
    }
}

/// A name that would change the URL is never sent; any other bad name is the server's to refuse.
fn check_path(doing: &Doing, segment: &str) -> Result<(), TransportError> {
    let breaks_url = |c: char| c.is_whitespace() || c.is_control() || "/%?#\\".contains(c);
    if segment.is_empty() || segment == "." || segment == ".." || segment.contains(breaks_url) {
        return Err(doing.invalid(format!("{segment:?} is not a valid name")));
    }
    Ok(())
}

/// Items of a list come without their kind.
fn with_kind(mut item: Value, kind: &ObjectKind) -> Value {
    if let Some(object) = item.as_object_mut() {
        object
            .entry("apiVersion")
            .or_insert_with(|| kind.api_version.clone().into());
        object
            .entry("kind")
            .or_insert_with(|| kind.kind.clone().into());
    }
    item
}

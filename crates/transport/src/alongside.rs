//! Kubernetes and Maestro as one target, for whoever looks after both.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::{
    Delete, Deletion, Kinds, Mode, ObjectKind, ObjectRef, Page, Scope, Selector, Survey, Transport,
    TransportError,
};

/// Works are Maestro's, everything else is Kubernetes'. ManifestWorks that a cluster keeps itself are not seen.
pub struct Alongside {
    kubernetes: Arc<dyn Survey>,
    maestro: Arc<dyn Survey>,
}

impl Alongside {
    /// Both.
    pub fn new(kubernetes: Arc<dyn Survey>, maestro: Arc<dyn Survey>) -> Self {
        Self {
            kubernetes,
            maestro,
        }
    }

    fn of(&self, kind: &ObjectKind) -> &dyn Survey {
        match is_work(kind) {
            true => self.maestro.as_ref(),
            false => self.kubernetes.as_ref(),
        }
    }

    fn of_manifest(&self, manifest: &Value) -> &dyn Survey {
        match ObjectKind::of(manifest) {
            Ok(kind) => self.of(&kind),
            Err(_) => self.kubernetes.as_ref(),
        }
    }
}

fn is_work(kind: &ObjectKind) -> bool {
    kind.kind == "ManifestWork"
        && kind
            .api_version
            .starts_with("work.open-cluster-management.io/")
}

#[async_trait]
impl Survey for Alongside {
    async fn kinds(&self) -> Result<Kinds, TransportError> {
        let mut all = self.kubernetes.kinds().await?;
        all.kinds.retain(|kind| !is_work(kind));
        match self.maestro.kinds().await {
            Ok(works) => {
                all.kinds.extend(works.kinds);
                all.failed.extend(works.failed);
            }
            Err(error) => all.failed.push(error),
        }
        Ok(all)
    }

    async fn page(
        &self,
        kind: &ObjectKind,
        label: &str,
        from: Option<&str>,
    ) -> Result<Page, TransportError> {
        self.of(kind).page(kind, label, from).await
    }
}

#[async_trait]
impl Transport for Alongside {
    async fn scope(&self, kind: &ObjectKind) -> Result<Scope, TransportError> {
        self.of(kind).scope(kind).await
    }

    async fn get(&self, object: &ObjectRef) -> Result<Option<Value>, TransportError> {
        self.of(&object.kind).get(object).await
    }

    async fn list(
        &self,
        kind: &ObjectKind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Result<Vec<Value>, TransportError> {
        self.of(kind).list(kind, namespace, selector).await
    }

    async fn apply(&self, manifest: &Value, mode: Mode) -> Result<Value, TransportError> {
        self.of_manifest(manifest).apply(manifest, mode).await
    }

    async fn create(&self, manifest: &Value) -> Result<Value, TransportError> {
        self.of_manifest(manifest).create(manifest).await
    }

    async fn patch(&self, object: &ObjectRef, patch: &Value) -> Result<Value, TransportError> {
        self.of(&object.kind).patch(object, patch).await
    }

    async fn delete(
        &self,
        object: &ObjectRef,
        options: &Delete,
    ) -> Result<Deletion, TransportError> {
        self.of(&object.kind).delete(object, options).await
    }
}

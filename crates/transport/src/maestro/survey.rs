//! Every work of ours, for whoever cleans up.

use async_trait::async_trait;
use serde_json::Value;

use super::{MaestroTransport, bundle, check};
use crate::{Kinds, ObjectKind, Operation, Page, Survey, TransportError};

#[async_trait]
impl Survey for MaestroTransport {
    async fn kinds(&self) -> Result<Kinds, TransportError> {
        Ok(Kinds {
            kinds: vec![bundle::kind()],
            failed: Vec::new(),
        })
    }

    async fn page(
        &self,
        kind: &ObjectKind,
        label: &str,
        from: Option<&str>,
    ) -> Result<Page, TransportError> {
        let failed = |failure| {
            let object = format!("{} with {label}", kind.kind);
            super::failed(Operation::List, object, failure)
        };
        check::kind(kind).map_err(failed)?;
        let mut page = self.page_of(None, from).await.map_err(failed)?;
        let carries = |work: &Value| !work["metadata"]["labels"][label].is_null();
        page.items.retain(carries);
        Ok(page)
    }
}

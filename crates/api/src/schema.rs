//! Schemas of `spec`: read and compiled when the API starts, asked about every spec that is written.
//!
//! ```text
//!   inline │ file │ OpenAPI document ──source──► JSON Schema ──compile──► SpecSchema
//!                                                                           │ check
//!                                                           spec ───────────┴──► all errors, with their paths
//! ```

mod compile;
mod cost;
mod dialect;
mod errors;
mod source;
mod subschema;

use std::collections::HashMap;

use hyperfleet_core::kind::Kind;
use hyperfleet_core::problem::{Code, FieldError};
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::state::ApiState;
pub(crate) use compile::SpecSchema;
#[cfg(test)]
pub(crate) use dialect::from_openapi_3_0;
pub(crate) use source::Sources;

/// The schemas of the kinds that have one.
#[derive(Debug, Default)]
pub struct SpecSchemas {
    by_kind: HashMap<String, SpecSchema>,
}

impl SpecSchemas {
    /// What is wrong with a spec. A kind without a schema takes any object.
    pub fn check(&self, kind: &str, spec: &Map<String, Value>) -> Result<(), Vec<FieldError>> {
        self.by_kind
            .get(kind)
            .map_or(Ok(()), |schema| schema.check(spec))
    }

    pub(crate) fn get(&self, kind: &str) -> Option<&SpecSchema> {
        self.by_kind.get(kind)
    }

    pub(crate) fn insert(&mut self, kind: String, schema: SpecSchema) {
        self.by_kind.insert(kind, schema);
    }
}

/// Refuses a spec that does not fit the schema of its kind.
pub(crate) fn check(
    state: &ApiState,
    kind: &Kind,
    spec: &Map<String, Value>,
) -> Result<(), Failure> {
    state.schemas.check(&kind.kind, spec).map_err(|errors| {
        let title = state.schemas.get(&kind.kind);
        let title = title.map_or(kind.kind.as_str(), SpecSchema::title);
        Failure::new(Code::Validation, format!("Invalid {title}")).with_errors(errors)
    })
}

#[cfg(test)]
mod tests;

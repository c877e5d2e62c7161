//! The search language of lists: `labels.env = 'dev' AND status.conditions.Reconciled = 'False'`.
//!
//! ```text
//!   text ──lexer──► tokens ──parser──► names ──field──► Field ┐
//!                                      values ──typing─► Literal ┴─► Expr ──┬─► Display: the text again
//!                                                                           ├─► matches: true of a resource?
//!                                                                           └─► SQL (hyperfleet-store)
//! ```
//!
//! Whatever can be wrong is found here, with its position: once there is a [`Search`], it means something for every
//! resource. What a resource does not have compares as SQL's NULL does: neither true nor false, under NOT as well, so
//! a resource without the label `env` is found neither by `labels.env = 'dev'` nor by `labels.env != 'dev'`.

#[cfg(feature = "testing")]
pub mod arbitrary;
mod decimal;
mod display;
mod error;
mod evaluate;
mod expr;
mod field;
mod lexer;
mod like;
mod parser;
mod typing;

pub use decimal::Decimal;
pub use error::SearchError;
pub use expr::{Check, Comparison, Expr, LetterCase, Literal, Test};
pub use field::{ConditionPart, Field};

use crate::resource::Resource;

/// A search that was understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    expr: Expr,
}

impl Search {
    /// The longest search, in bytes.
    pub const MAX_LENGTH: usize = 4096;

    pub fn parse(text: &str) -> Result<Search, SearchError> {
        parser::parse(text).map(|expr| Search { expr })
    }

    /// What it asks for. Every literal is of a type that its field can be compared with.
    pub fn expr(&self) -> &Expr {
        &self.expr
    }

    /// Whether the resource is found. Agrees with the store's SQL on every resource.
    pub fn matches(&self, resource: &Resource) -> bool {
        evaluate::truth(&self.expr, resource) == Some(true)
    }
}

//! Text that knows its positions.
//!
//! In comes the text of a configuration file; out comes a typed value, or a list of mistakes
//! that each name file, line, column and what to do. Nothing here reads or writes anything.
//!
//! ```text
//!  SourceFile ──yaml::parse──► Node (tree, every node has a Span)
//!                               │
//!       schemars::Schema ──────►├─ schema::unknown_keys ──► Vec<Diagnostic>
//!                               ├─ Node::deserialize::<T> ─► T
//!                               ├─ Node::to_json ──────────► serde_json::Value
//!                               └─ Node::position_in ──────► where a character of a scalar,
//!                                                            say of an expression, was written
//!  every step that fails ──► Diagnostics, printed like a compiler's
//! ```
//!
//! A [`Node`] carries its [`SourceFile`], so trees merged from several sources (a file, an
//! environment variable, a flag) still report each mistake where it was made.

mod de;
mod diagnostic;
pub mod fields;
mod file;
mod node;
pub mod schema;
pub mod suggest;
pub mod yaml;

pub use de::Error as DeserializeError;
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use file::{Position, SourceFile, Span};
pub use node::{Key, Node, Style, Value};

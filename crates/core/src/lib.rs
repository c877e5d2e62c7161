//! The domain, without IO and without a clock of its own.
//!
//! ```text
//!   create body ──► kind rules ──► Resource ─┐
//!                                            ├─► aggregation ──► conditions ──► phase ──► ResourceStatus
//!   report body ──► report rules ──► verdict ┘                                              │
//!                                                                                           ▼
//!                                                                     due: when to look at it again, and why
//! ```
//!
//! What comes in: request bodies as JSON, stored rows as the types below, the time as an argument.
//! What goes out: values to store, to answer or to act on. The API writes them, the Sentinel and the adapters read them.

#![forbid(unsafe_code)]

pub mod adapter_status;
pub mod aggregation;
pub mod audit_note;
pub mod column;
pub mod condition;
pub mod deletion;
pub mod due;
pub mod effect;
pub mod fields;
pub mod free;
pub mod generation;
pub mod history;
pub mod identity;
pub mod kind;
pub mod label;
pub mod list;
pub mod ownership;
pub mod patch;
pub mod phase;
pub mod presence;
pub mod problem;
pub mod report;
pub mod resource;
pub mod retention;
pub mod search;
pub mod shard;
pub mod time;

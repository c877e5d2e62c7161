//! The whole system, as a user meets it: the built program, its shipped adapters, and the servers around it.
//!
//! ```text
//!   scenario ──► Stack ─┬─ fast: `hyperfleet up`              one process: kubesim, memory broker, private PostgreSQL
//!      │                └─ real: api, sentinel, 8 adapters    processes: PostgreSQL, RabbitMQ, kube-apiserver
//!      │                                │                     (a kubelet and an operator that this crate plays)
//!      ├─ changes it makes ─► Ledger    │
//!      │                        │       ▼
//!      └─ at the end ──────► History ◄── Observer             what was seen on the way
//!                               ▲
//!                               └── Events, audit log         what broker and apiserver were told (real only)
//! ```
//!
//! A scenario is written once and runs on both. What a component does when it is killed is seen on the real stack only:
//! in the fast one all of them die together.

#![forbid(unsafe_code)]

pub mod adapters;
pub mod audit;
pub mod call;
pub mod events;
pub mod fast;
pub mod history;
pub mod kubelet;
pub mod kubernetes;
pub mod ledger;
pub mod observer;
pub mod process;
pub mod real;
pub mod recorded;
pub mod servers;
pub mod stack;

/// The root of the source tree.
pub fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

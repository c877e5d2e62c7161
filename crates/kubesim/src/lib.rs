//! An in-memory server that speaks enough of the Kubernetes API for `kubectl` and the `kube` crate. It is not Kubernetes:
//! no kubelet, no scheduler, no admission, no access control; where it differs from kube-apiserver, it is wrong.
//!
//! In comes HTTP from clients, out goes JSON; inside, one locked state that verbs change and controllers follow.
//!
//! ```text
//!  client ──HTTP──► http ──► cluster (verbs) ──► store ──► history ──► watchers
//!                     │         │  ▲               │
//!          discovery, │         │  │               ▼ changes
//!          tables     │         │  └────────── controllers: owners, namespaces, definitions, workloads
//!                     ▼         ▼                  ▲
//!                  catalog   ownership, patch,     └── exact timers: jobs finish, rollouts complete
//!                            kinds, validation
//!                                                 store ──► state file (debounced)
//! ```

mod catalog;
mod cluster;
mod controllers;
mod events;
mod failure;
mod http;
mod kinds;
mod kubeconfig;
mod meta;
mod options;
mod ownership;
mod patch;
mod persist;
mod protobuf;
mod query;
mod schema;
mod selector;
mod server;
mod store;
mod validation;

pub use options::Options;
pub use server::{Server, StartError};

//! Where managed objects live, and the few things that are ever done to them.
//!
//! In comes a rendered manifest or a reference to an object, out comes the object as the target
//! has it, as JSON, or a [`TransportError`] that says what was being done to which object, what
//! the target answered, and whether trying again can help.
//!
//! ```text
//!  ObjectRef / Selector / manifest
//!        │
//!        ▼
//!   Transport ──┬─ KubernetesTransport ── rate limit ── discovery cache ──► kube-apiserver
//!               ├─ MaestroTransport ── reads over REST, writes as events over gRPC ──► Maestro
//!               ├─ PreviewTransport ── the same, but every write is a server-side dry run
//!               └─ OfflineTransport ─────────────────────────────────────► recorded objects
//!        │
//!        ▼
//!   serde_json::Value │ TransportError { target, operation, object, failure }
//! ```
//!
//! Nothing here retries what was answered: whoever calls is called again when the object is next looked at.

mod alongside;
mod error;
mod kubernetes;
mod maestro;
mod object;
mod offline;
mod ownership;
mod preview;
mod survey;
mod transport;
mod unconnected;

pub use alongside::Alongside;
pub use error::{Failure, Operation, Target, TransportError};
pub use kubernetes::{ConnectError, KubernetesConfig, KubernetesTransport, pod_namespace};
pub use maestro::{
    MAESTRO_VARIABLES, MaestroAuth, MaestroAuthType, MaestroClient, MaestroConfig, MaestroError,
    MaestroKeepalive, MaestroProbes, MaestroSecurity, MaestroTls, MaestroTlsFiles,
    MaestroTransport, work_kind,
};
pub use object::{InvalidManifest, ObjectKind, ObjectRef, Selector};
pub use offline::OfflineTransport;
pub use ownership::{OwnershipConfig, OwnershipError, claim};
pub use preview::{Change, Preview, PreviewTransport, Previewed};
pub use survey::{Kinds, Page, Survey};
pub use transport::{Delete, Deletion, Mode, Propagation, Scope, Transport};
pub use unconnected::Unconnected;

//! When something must be looked at again. Adapters decide how.
//!
//! ```text
//!  API ──list, page by page──► Observed(resource) ───────┐
//!      (once, then slowly)     Passed (all of it read) ──┤
//!  API ──change feed─────────► Changed, Gone ────────────┤ bounded channel
//!      (or the list again every poll_interval)           ▼
//!            table: per resource what the decision looks at, what was last sent, what an event holds
//!                │ decision: core::due, or message_decision in CEL
//!                ├─ not yet ──► timer at the exact moment ──┐
//!                └─ now ◄───────────────────────────────────┘
//!                     │ message_data
//!                     ▼
//!            CloudEvent ──► broker, at most max_in_flight unconfirmed
//!                     ├─ confirmed: not again before its backoff, unless it changes
//!                     └─ failed: again, later and later
//! ```
//!
//! In comes an [`Options`], a client of the API and a publisher; out come events. The loop waits for
//! neither API nor broker: when the API is away, timers go on from memory; when the broker is away,
//! what is due stays due.

#![forbid(unsafe_code)]

mod backlog;
mod clock;
mod decision;
mod engine;
mod event;
mod follow;
mod handle;
mod herald;
mod lease;
mod message;
mod metrics;
mod options;
mod payload;
mod poll;
mod projection;
mod publish;
mod rate;
mod replicas;
mod selector;
mod sentinel;
mod table;
mod view;
mod why;

pub use clock::Clock;
pub use decision::RulesError;
pub use handle::{Explanation, Handle, KindStatus, NextEvent};
pub use options::{
    ApiOptions, AuthOptions, BrokerOptions, ClientsOptions, Decide, DecisionRules, Flags,
    IdentityOptions, KindOptions, Options, OptionsError, Param, Replicas, SeedApiOptions, Selector,
};
pub use payload::PayloadError;
pub use replicas::{Registrar, RegistrarError};
pub use sentinel::{Sentinel, SentinelError};
pub use view::view;
pub use why::{Why, WhyError, why, why_of};

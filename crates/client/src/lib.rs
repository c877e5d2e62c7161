//! The API as other components see it: calls that retry, lists that page, resources that may be a version older.
//!
//! ```text
//!  Call {method, url, headers, body} ──► base URL + path rules ──► allowed? ──► token (own origin only)
//!                                                                    │
//!        ┌── transport error, 5xx, 408, 429: wait, once more ◄─── one attempt, bounded in time and size
//!        ▼                                                           │
//!   CallError {method, url, status, problem, attempts, duration}   Answer {status, headers, body}
//!                                                                    │
//!        list · list_all · watch · get · create · statuses · report ◄────────┘
//!          └─► RemoteResource: what every API version has, and the JSON as it came
//! ```
//!
//! In comes a [`ClientConfig`]; out comes a [`Client`], cheap to clone, with one pool of kept-alive connections.

#![forbid(unsafe_code)]

mod address;
mod call;
mod client;
mod config;
mod error;
mod operations;
mod origins;
mod paging;
mod remote;
mod retry;
mod sentinels;
pub mod tls;
mod token;
mod typed;
mod watch;

pub use address::{BaseUrl, BaseUrlError};
pub use call::{Answer, Call};
pub use client::{BuildError, Client};
pub use config::{Auth, ClientConfig, TokenFrom, Trust};
pub use error::{CallError, Cause};
pub use operations::{AuditQuery, Stretch};
pub use origins::NotAnOrigin;
pub use remote::{RemoteAdapter, RemoteCondition, RemoteReference, RemoteResource, RemoteStatus};
pub use reqwest::{Method, StatusCode, header};
pub use retry::{Backoff, Retry};
pub use token::TokenError;
pub use typed::ListQuery;
pub use watch::{Follow, KeysetPage, Watch, WatchEvent, WatchNews};

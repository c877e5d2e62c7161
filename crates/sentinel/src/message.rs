//! What a source of resources tells the loop: a list that is read again and again, or one that is followed.

use std::time::Duration;

use hyperfleet_client::RemoteResource;
use hyperfleet_core::time::Time;

/// News about the fleet.
#[derive(Debug)]
pub(crate) enum Message {
    /// The resource looked like this when this pass over the whole list came by.
    Observed {
        resource: Box<RemoteResource>,
        pass: u32,
    },
    /// The resource has just become like this, during this pass or after it.
    Changed {
        resource: Box<RemoteResource>,
        pass: u32,
    },
    /// The resource is gone, or no longer selected.
    Gone { id: String },
    /// The change feed is there, and nothing else happened.
    Heard,
    /// The whole list was read.
    Passed(Pass),
    /// The API cannot be asked at the moment.
    ApiAway {
        reason: String,
        error_type: &'static str,
    },
}

/// One pass over the whole list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass {
    pub(crate) number: u32,
    pub(crate) fetched: usize,
    pub(crate) finished: Time,
    pub(crate) took: Duration,
}

//! What a source of resources tells the loop. Polling is one source.

use std::time::Duration;

use hyperfleet_client::RemoteResource;
use hyperfleet_core::time::Time;

/// News about the fleet.
#[derive(Debug)]
pub(crate) enum Message {
    /// The resource looks like this now; seen in this pass over the whole list, if in one.
    Observed {
        resource: Box<RemoteResource>,
        pass: u32,
    },
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

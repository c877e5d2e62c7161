//! A stream of messages and its end.

use std::time::Duration;

use google_cloud_pubsub::subscriber::{MessageStream, ShutdownToken};
use tokio::time::timeout;

use super::client::Trouble;
use super::places::Places;

/// For the last acks on a stream whose messages are settled, or never will be.
const FAREWELL: Duration = Duration::from_secs(5);

/// Messages of a subscription, at most so many unsettled at a time.
pub(super) async fn open(
    places: &Places,
    subscription: &str,
    most: i64,
) -> Result<MessageStream, Trouble> {
    let client = places.google.streams().await;
    let client = client.map_err(|error| Trouble::Unreachable(error.to_string()))?;
    let mut opening = client
        .subscribe(subscription)
        .set_max_outstanding_messages(most)
        .set_max_lease_extension(places.ack_deadline());
    match places.config().max_outstanding_bytes {
        0 => {}
        bytes => opening = opening.set_max_outstanding_bytes(bytes),
    }
    Ok(opening.build())
}

/// Waits until what was settled is told to the server.
pub(super) async fn finish(token: ShutdownToken) {
    if timeout(FAREWELL, token.shutdown()).await.is_err() {
        tracing::debug!("a stream ended with unsettled messages; they come again");
    }
}

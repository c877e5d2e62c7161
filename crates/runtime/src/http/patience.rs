//! A connection whose peer must take what it is sent.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Fails once something that is to be written has not moved for longer than the limit. A peer that reads slowly moves
/// it a little every time; one that never reads would hold an answer, and what it is made of, for ever.
#[derive(Debug)]
pub(super) struct Patient<I> {
    inner: I,
    limit: Duration,
    /// Since when nothing moves; `None` while everything does.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<I> Patient<I> {
    pub(super) fn new(inner: I, limit: Duration) -> Patient<I> {
        Patient {
            inner,
            limit,
            waiting: None,
        }
    }

    /// Passes on what became of a write, and counts the time while nothing does.
    fn bounded<T>(
        &mut self,
        cx: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.waiting = None;
            return outcome;
        }
        let limit = self.limit;
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        ready!(waiting.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the peer does not take what it is sent",
        )))
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Patient<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Patient<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.bounded(cx, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write_vectored(cx, bytes);
        self.bounded(cx, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.inner).poll_flush(cx);
        self.bounded(cx, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.bounded(cx, outcome)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_nothing_is_given_up_on() {
        let (ours, _theirs) = duplex(4);
        let mut ours = Patient::new(ours, LIMIT);
        let ended = ours.write_all(b"more than fits").await;
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_a_little_every_time_gets_everything() {
        let (ours, mut theirs) = duplex(4);
        let mut ours = Patient::new(ours, LIMIT);
        let reading = tokio::spawn(async move {
            let mut taken = Vec::new();
            // Longer than the limit altogether, never longer at once.
            while taken.len() < 14 {
                tokio::time::sleep(LIMIT - Duration::from_secs(1)).await;
                taken.push(theirs.read_u8().await?);
            }
            io::Result::Ok(taken)
        });
        assert!(ours.write_all(b"more than fits").await.is_ok());
        let taken = reading.await.ok().and_then(Result::ok);
        assert_eq!(taken.as_deref(), Some(&b"more than fits"[..]));
    }
}

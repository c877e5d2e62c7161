//! Which shards this replica may work on, and until when.
//!
//! ```text
//!   announce(keep) ──► held, share ──► Lease {shards, until} ──► the loop sends for these, until then
//!        ▲  every third of the duration         │ above the share: let go first, then say so
//!        └────────────────────────────────────◄─┘ fewer than the share, and others must let go: ask again soon
//! ```
//!
//! Every replica keeps the whole table and sends only for what it holds, so that taking over needs neither a list nor a
//! watch of its own: what is due is sent at once. The price is memory; a fleet that is too large for one process is cut
//! by `resource_selector`.
//!
//! `until` is this machine's monotonic clock, counted from before the question was asked and ending before the lease
//! does: a replica that cannot renew has stopped when another may begin.

use std::sync::Arc;
use std::time::Duration;

use hyperfleet_core::presence::{Announcement, Presence, Standing};
use hyperfleet_core::shard::Shards;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::handle::KindStatus;
use crate::herald::Herald;
use crate::metrics::LeaseMetrics;
use crate::replicas::{Registrar, RegistrarError};

/// How soon to ask again when others are about to let go.
const SOON: Duration = Duration::from_millis(200);

/// The shards one loop may send for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lease {
    shards: Shards,
    /// For ever where nothing is shared.
    until: Option<Instant>,
}

impl Lease {
    pub(crate) const FOR_EVER: Lease = Lease {
        shards: Shards::ALL,
        until: None,
    };
    const NOTHING: Lease = Lease {
        shards: Shards::NONE,
        until: None,
    };

    /// What is held at a moment.
    pub(crate) fn at(self, now: Instant) -> Shards {
        match self.until {
            Some(until) if until <= now => Shards::NONE,
            _ => self.shards,
        }
    }
}

/// Announces one kind of one process again and again, and tells its loop what it holds.
pub(crate) struct Keeper {
    registrar: Arc<dyn Registrar>,
    /// Where replicas meet elsewhere than at the API.
    herald: Option<Herald>,
    /// What the herald heard.
    elsewhere: watch::Receiver<Vec<Presence>>,
    id: Uuid,
    said: Announcement,
    duration: Duration,
    lease: watch::Sender<Lease>,
    status: watch::Sender<KindStatus>,
    metrics: LeaseMetrics,
}

impl Keeper {
    pub(crate) fn new(
        registrar: Arc<dyn Registrar>,
        said: Announcement,
        status: watch::Sender<KindStatus>,
        metrics: LeaseMetrics,
    ) -> (Keeper, watch::Receiver<Lease>) {
        let begin = match said.shares {
            true => Lease::NOTHING,
            false => Lease::FOR_EVER,
        };
        let (lease, held) = watch::channel(begin);
        let (_, elsewhere) = watch::channel(Vec::new());
        let keeper = Keeper {
            registrar,
            herald: None,
            elsewhere,
            id: Uuid::now_v7(),
            duration: Duration::from_secs(said.duration_seconds.into()),
            said,
            lease,
            status,
            metrics,
        };
        (keeper, held)
    }

    /// Lets replicas meet elsewhere than at the API, which is still told of this one.
    pub(crate) fn meet_at(&mut self, registrar: Arc<dyn Registrar>) {
        let (overlaps, elsewhere) = watch::channel(Vec::new());
        self.elsewhere = elsewhere;
        self.herald = Some(Herald {
            registrar: std::mem::replace(&mut self.registrar, registrar),
            id: self.id,
            said: self.said.clone(),
            lease: self.lease.subscribe(),
            overlaps,
        });
    }

    fn period(&self) -> Duration {
        self.duration / 3
    }

    /// Announces until told to leave; then says so, and goes on for as long as the others need to notice.
    pub(crate) async fn run(&mut self, leave: &CancellationToken) {
        match self.herald.take() {
            Some(herald) => {
                tokio::join!(self.keep(leave), herald.run(leave));
            }
            None => self.keep(leave).await,
        }
    }

    async fn keep(&mut self, leave: &CancellationToken) {
        let mut heard = false;
        loop {
            let asked = Instant::now();
            let wait = match self.announce().await {
                Ok(standing) => {
                    heard = true;
                    self.take(standing, asked)
                }
                Err(RegistrarError::Absent) if !self.said.shares && !heard => {
                    tracing::debug!(
                        subset = self.said.resource_type,
                        "nobody lists Sentinels here"
                    );
                    return leave.cancelled().await;
                }
                Err(error) => {
                    self.fail(&error);
                    self.period() / 3
                }
            };
            tokio::select! {
                () = leave.cancelled() => break,
                () = tokio::time::sleep(wait) => {}
            }
        }
        if self.said.shares {
            self.hand_over().await;
        }
    }

    /// Others learn within a period that somebody leaves, and then ask until there is something to take: so nothing is
    /// without a holder for longer than a question takes.
    async fn hand_over(&mut self) {
        self.said.leaving = true;
        let asked = Instant::now();
        let Ok(standing) = self.announce().await else {
            return;
        };
        let alone = standing.replicas <= 1;
        self.take(standing, asked);
        if !alone {
            tokio::time::sleep(self.period() + SOON).await;
        }
    }

    /// After the loop has ended: nothing is sent any more.
    pub(crate) async fn withdraw(self) {
        if let Err(error) = self.registrar.withdraw(self.id).await {
            tracing::debug!(%error, "others will notice by themselves that this Sentinel is gone");
        }
    }

    async fn announce(&self) -> Result<Standing, RegistrarError> {
        let announced = self.registrar.announce(self.id, &self.said);
        match tokio::time::timeout(self.period(), announced).await {
            Ok(outcome) => outcome,
            Err(_) => Err(RegistrarError::Failed("no answer in time".to_owned())),
        }
    }

    /// Takes what is given, and says when to ask again.
    fn take(&mut self, standing: Standing, asked: Instant) -> Duration {
        self.notice(&standing);
        if !self.said.shares {
            return self.period();
        }
        let most = match self.said.leaving {
            true => Shards::COUNT,
            false => standing.share,
        };
        let keep = standing.held.first(most);
        self.said.keep = keep;
        // A fifth is left for events that are on their way when the time is over.
        self.lease.send_replace(Lease {
            shards: keep,
            until: Some(asked + self.duration * 4 / 5),
        });
        if keep != standing.held {
            Duration::ZERO
        } else if standing.more {
            SOON.min(self.period())
        } else {
            self.period()
        }
    }

    fn notice(&self, standing: &Standing) {
        let elsewhere = self.elsewhere.borrow();
        let met = |other: &Presence| standing.overlaps.iter().any(|known| known.id == other.id);
        let overlaps: Vec<String> = standing
            .overlaps
            .iter()
            .chain(elsewhere.iter().filter(|other| !met(other)))
            .map(|other| {
                let labels: Vec<String> = other
                    .selector
                    .iter()
                    .map(|(label, value)| format!("{label}:{value}"))
                    .collect();
                format!(
                    "{} ({})",
                    other.name,
                    match labels.is_empty() {
                        true => "all".to_owned(),
                        false => labels.join(","),
                    }
                )
            })
            .collect();
        let held = standing.held.count();
        self.metrics
            .standing(standing.replicas, held, overlaps.len());
        self.status.send_if_modified(|status| {
            if !overlaps.is_empty() && status.overlaps != overlaps {
                tracing::warn!(
                    subset = self.said.resource_type,
                    others = overlaps.join("; "),
                    "another Sentinel may send events about the same resources; give them selectors that exclude each \
                     other, or the same name and sentinel.replicas"
                );
            }
            let before = (status.replicas, status.shards, status.lease_error.take());
            status.overlaps = overlaps;
            status.replicas = standing.replicas;
            status.shards = if self.said.shares { held } else { Shards::COUNT };
            before != (status.replicas, status.shards, None)
        });
    }

    fn fail(&self, error: &RegistrarError) {
        self.metrics.failed();
        let said = error.to_string();
        self.status.send_if_modified(|status| {
            if status.lease_error.is_none() {
                tracing::warn!(
                    subset = self.said.resource_type,
                    shares = self.said.shares,
                    %error,
                    "this Sentinel could not announce itself; what it shares it stops sending before its lease ends"
                );
            }
            status.lease_error = Some(said);
            true
        });
    }
}

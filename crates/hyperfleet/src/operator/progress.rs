//! Waiting for a resource, with a line per adapter that shows how far it is.
//!
//! On a terminal the lines are rewritten in place; elsewhere a line is printed when it says something new. All of it
//! goes to stderr. However it ends, also by Ctrl-C, the last word is a summary.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use hyperfleet_client::{Follow, RemoteResource, StatusCode};
use serde_json::Value;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::exit::Exit;
use super::failure::Failure;
use super::fleet::{Fleet, called, quoted};
use super::follow::{Following, News};
use super::goal::Goal;
use super::kinds::KindInfo;
use super::reports;
use super::walk::Walk;
use crate::output::{Look, Tone, printable, span};

/// How often what only the clock changes is drawn again.
const TICK: Duration = Duration::from_secs(1);

/// What is waited for, and until when.
pub(crate) struct Wait<'f> {
    pub(crate) fleet: &'f Fleet,
    pub(crate) kind: &'f KindInfo,
    pub(crate) goal: &'f Goal,
    /// `None` waits for ever.
    pub(crate) deadline: Option<Instant>,
}

/// How a wait ended.
enum End {
    Met,
    Gone,
    TimedOut,
    Interrupted,
}

impl Wait<'_> {
    /// Waits until the goal is met. The exit code says how it ended.
    pub(crate) async fn run(&self, resource: &RemoteResource) -> Result<Exit, Failure> {
        let mut lines = Lines::new(called(resource));
        let end = self.until(resource, &mut lines).await?;
        let what = &lines.name;
        let words = self.goal.words();
        let took = span(lines.elapsed());
        let (exit, summary) = match (end, self.goal) {
            (End::Met, _) => (Exit::Done, format!("{what} is {words} after {took}")),
            (End::Gone, Goal::Gone) => (Exit::Done, format!("{what} is gone after {took}")),
            (End::Gone, _) => (
                Exit::NotFound,
                format!("{what} is gone; it never was {words}"),
            ),
            (End::TimedOut, _) => (
                Exit::TimedOut,
                format!("{what} is not {words} after {took}{}", lines.what_is_open()),
            ),
            (End::Interrupted, _) => (
                Exit::Interrupted,
                format!(
                    "stopped waiting; {what} is not {words} after {took}, and goes on without us{}",
                    lines.what_is_open()
                ),
            ),
        };
        eprintln!("{summary}");
        if matches!(exit, Exit::TimedOut | Exit::Interrupted) {
            eprintln!("  hint: hyperfleet why {what}");
        }
        Ok(exit)
    }

    async fn until(&self, resource: &RemoteResource, lines: &mut Lines) -> Result<End, Failure> {
        let follow = Follow {
            plural: self.kind.plural.clone(),
            search: Some(format!("id = {}", quoted(&resource.id))),
            ..Follow::default()
        };
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        'listed: loop {
            let mut walk = Walk::new(self.fleet, &follow);
            let mut found = None;
            while let Some(items) = walk.next().await? {
                found = items.into_iter().next().or(found);
            }
            match found {
                Some(now) if self.goal.is_met(&now) => return Ok(End::Met),
                Some(now) => self.look(&now, lines).await?,
                None => return Ok(End::Gone),
            }
            let since = walk.since.unwrap_or_default();
            let mut following = Following::new(self.fleet, follow.clone(), since);
            loop {
                let over = async {
                    match self.deadline {
                        Some(deadline) => tokio::time::sleep_until(deadline).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    news = following.next() => match news? {
                        News::Upsert(now) if self.goal.is_met(&now) => {
                            self.look(&now, lines).await?;
                            return Ok(End::Met);
                        }
                        News::Upsert(now) => self.look(&now, lines).await?,
                        News::Delete(_) => return Ok(End::Gone),
                        News::Lost => continue 'listed,
                    },
                    _ = tick.tick() => lines.draw(),
                    () = over => return Ok(End::TimedOut),
                    _ = tokio::signal::ctrl_c() => return Ok(End::Interrupted),
                }
            }
        }
    }

    /// What there is to say about each adapter, and about the resource.
    async fn look(&self, resource: &RemoteResource, lines: &mut Lines) -> Result<(), Failure> {
        let statuses = self.fleet.client.statuses(&self.kind.plural, &resource.id);
        let statuses = match statuses.await {
            Ok(statuses) => statuses,
            // Gone between two looks: the feed says so next.
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => return Ok(()),
            Err(error) => return Err(self.fleet.told(error)),
        };
        let mut said = BTreeMap::new();
        for name in &self.kind.required_adapters {
            said.insert(name.clone(), (Tone::Faint, "has not reported".to_owned()));
        }
        for report in reports::each(&statuses) {
            if let Some(name) = report["adapter"].as_str() {
                said.insert(name.to_owned(), adapter(report, resource));
            }
        }
        let phase = resource.status.phase.clone().unwrap_or_default();
        lines.say(said, phase);
        Ok(())
    }
}

fn adapter(report: &Value, resource: &RemoteResource) -> (Tone, String) {
    let generation = report["observed_generation"].as_i64().unwrap_or(0);
    let status = |kind: &str| {
        reports::condition(report, kind).map_or("", |it| it["status"].as_str().unwrap_or(""))
    };
    if generation < resource.generation {
        let old = format!("last spoke about generation {generation}");
        return (Tone::Working, old);
    }
    let finalized = resource.is_deleting() && status("Finalized") == "True";
    let (tone, state) = match (status("Health"), status("Available")) {
        _ if finalized => (Tone::Good, "finalized"),
        ("False", _) => (Tone::Bad, "unhealthy"),
        _ if resource.is_deleting() => (Tone::Working, "cleaning up"),
        (_, "True") => (Tone::Good, "available"),
        _ => (Tone::Working, "working"),
    };
    let words = match finalized {
        true => reports::condition(report, "Finalized").map_or_else(String::new, reports::words),
        false => reports::says(report),
    };
    (tone, format!("{state:<11}  {words}").trim_end().to_owned())
}

/// The lines on the screen.
struct Lines {
    name: String,
    look: Look,
    started: DateTime<Utc>,
    adapters: BTreeMap<String, (Tone, String)>,
    phase: String,
    /// How many lines are to be rewritten.
    drawn: usize,
}

impl Lines {
    fn new(name: String) -> Lines {
        Lines {
            name,
            look: Look::of_stderr(),
            started: Utc::now(),
            adapters: BTreeMap::new(),
            phase: String::new(),
            drawn: 0,
        }
    }

    fn elapsed(&self) -> chrono::TimeDelta {
        Utc::now() - self.started
    }

    fn say(&mut self, adapters: BTreeMap<String, (Tone, String)>, phase: String) {
        if self.look.width.is_none() {
            let took = span(self.elapsed());
            for (name, state) in &adapters {
                if self.adapters.get(name) != Some(state) {
                    eprintln!("{took:>5}  {name}: {}", printable(&state.1));
                }
            }
            if self.phase != phase {
                eprintln!("{took:>5}  {}: {phase}", self.name);
            }
        }
        self.adapters = adapters;
        self.phase = phase;
        self.draw();
    }

    /// In place, on a terminal only.
    fn draw(&mut self) {
        let Some(width) = self.look.width else {
            return;
        };
        if self.drawn > 0 {
            eprint!("\u{1b}[{}A\u{1b}[J", self.drawn);
        }
        let longest = self.adapters.keys().map(String::len).max().unwrap_or(0);
        for (name, (tone, state)) in &self.adapters {
            let line = format!("  {name:<longest$}  {}", printable(state));
            let fitting: String = line.chars().take(width.saturating_sub(1)).collect();
            eprintln!("{}", self.look.paint(*tone, &fitting));
        }
        let took = span(self.elapsed());
        let phase = self.look.paint(Tone::of_phase(&self.phase), &self.phase);
        eprintln!("{}  {phase}  {took}", self.name);
        self.drawn = self.adapters.len() + 1;
    }

    /// Who has not done its part, for the last word.
    fn what_is_open(&self) -> String {
        let open: Vec<String> = self
            .adapters
            .iter()
            .filter(|(_, (tone, _))| *tone != Tone::Good)
            .map(|(name, (_, state))| {
                let words = state.split_whitespace().collect::<Vec<_>>().join(" ");
                format!("\n  {name}: {}", printable(&words))
            })
            .collect();
        open.concat()
    }
}

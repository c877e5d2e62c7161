//! Giving dead letters back, or removing them.

use std::io::IsTerminal as _;

use anyhow::{Context as _, Result, bail};
use hyperfleet_broker::{DeadLetter, Fate, Selection};

use super::connect;
use crate::cli::ClearArgs;
use crate::output::{self, Answer};

/// Letters between two words on how far it has come.
const STEP: usize = 100;

pub(super) async fn clear(args: ClearArgs, fate: Fate) -> Result<()> {
    let selections: Vec<Selection> = match args.all {
        true => vec![Selection::Oldest(args.limit.unwrap_or(usize::MAX))],
        false => args.ids.iter().cloned().map(Selection::Named).collect(),
    };
    let place = format!("{}/{}", args.of.topic, args.of.subscription);
    if fate == Fate::Discard && !args.yes {
        confirm(&selections, &place)?;
    }
    let broker = connect(&args.of).await?;
    let mut count = Count { done: 0, fate };
    let mut missing = Vec::new();
    let mut outcome = Ok(());
    for selection in &selections {
        let mut tell = |_: &DeadLetter| count.one();
        let clearing = broker.clear_dead_letters(
            &args.of.topic,
            &args.of.subscription,
            selection,
            fate,
            &mut tell,
        );
        match (clearing.await, selection) {
            (Ok(0), Selection::Named(id)) => missing.push(id.as_str()),
            (Ok(_), _) => {}
            (Err(error), _) => {
                outcome = Err(error);
                break;
            }
        }
    }
    broker.close().await;
    count.close(&place);
    outcome?;
    if !missing.is_empty() {
        bail!("there is no dead letter {} in {place}", missing.join(", "));
    }
    Ok(())
}

/// Asks, where somebody can answer.
fn confirm(selections: &[Selection], place: &str) -> Result<()> {
    let what = match selections {
        [Selection::Oldest(usize::MAX)] => "all dead letters".to_owned(),
        [Selection::Oldest(limit)] => format!("up to {limit} dead letters"),
        named => count_of(named.len()),
    };
    let question = format!("Remove {what} of {place} for good?");
    match output::confirm(&question).context("cannot ask")? {
        Answer::Yes => Ok(()),
        Answer::No => bail!("nothing was removed"),
        Answer::NobodyThere => {
            bail!("this removes {what} of {place} for good: say so with --yes")
        }
    }
}

/// How far it has come, on stderr: in place on a terminal, now and then elsewhere.
struct Count {
    done: usize,
    fate: Fate,
}

impl Count {
    fn one(&mut self) {
        self.done += 1;
        let is_terminal = std::io::stderr().is_terminal();
        match self.done % STEP {
            _ if is_terminal => eprint!("\r{} {}", self.verb(), self.done),
            0 => eprintln!("{} {} so far", self.verb(), self.done),
            _ => {}
        }
    }

    fn close(&self, place: &str) {
        if self.done > 0 && std::io::stderr().is_terminal() {
            eprint!("\r");
        }
        let (verb, count) = (self.verb(), count_of(self.done));
        match self.fate {
            Fate::Replay => eprintln!("{verb} {count} to {place}"),
            Fate::Discard => eprintln!("{verb} {count} of {place}"),
        }
    }

    fn verb(&self) -> &'static str {
        match self.fate {
            Fate::Replay => "replayed",
            Fate::Discard => "removed",
        }
    }
}

fn count_of(count: usize) -> String {
    match count {
        1 => "1 dead letter".to_owned(),
        count => format!("{count} dead letters"),
    }
}

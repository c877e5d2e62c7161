//! `hyperfleet broker dead-letters`.

mod clear;
mod printed;

use std::collections::HashMap;

use anyhow::{Result, bail};
use hyperfleet_broker::{Broker, BrokerConfig, DeadLetter, Fate, Metrics, Selection};

use self::clear::clear;
use crate::cli::{DeadLettersCommand, ListArgs, ShowArgs, SubscriptionArgs};

/// More than anybody can look at; a bound so that a question cannot fill the memory.
const MOST: usize = 10_000;

pub(crate) async fn run(command: DeadLettersCommand) -> Result<()> {
    match command {
        DeadLettersCommand::List(args) => list(args).await,
        DeadLettersCommand::Show(args) => show(args).await,
        DeadLettersCommand::Replay(args) => clear(args, Fate::Replay).await,
        DeadLettersCommand::Discard(args) => clear(args, Fate::Discard).await,
    }
}

async fn connect(of: &SubscriptionArgs) -> Result<Broker> {
    let config = match &of.broker_url {
        Some(url) => BrokerConfig::from_url(url)?,
        None => crate::broker::config()?,
    };
    Ok(Broker::connect(&config, Metrics::new(HashMap::new())?).await?)
}

/// Up to `limit`, and whether there are more.
async fn fetch(of: &SubscriptionArgs, limit: usize) -> Result<(Vec<DeadLetter>, bool)> {
    let broker = connect(of).await?;
    let limit = limit.min(MOST);
    let listed = broker.list_dead_letters(&of.topic, &of.subscription, limit + 1);
    let listed = listed.await;
    broker.close().await;
    let mut letters = listed?;
    let more = letters.len() > limit;
    letters.truncate(limit);
    Ok((letters, more))
}

async fn list(args: ListArgs) -> Result<()> {
    let (letters, more) = fetch(&args.of, args.limit).await?;
    print!("{}", printed::list(&letters, args.output)?);
    let (topic, subscription) = (&args.of.topic, &args.of.subscription);
    match (letters.len(), more) {
        (0, _) => eprintln!("no dead letters in {topic}/{subscription}"),
        (count, true) => eprintln!("the first {count} are shown, there are more: --limit"),
        (_, false) => {}
    }
    Ok(())
}

async fn show(args: ShowArgs) -> Result<()> {
    let (letters, _) = fetch(&args.of, MOST).await?;
    let meant = Selection::Named(args.id.clone());
    let Some(letter) = letters.iter().find(|letter| meant.takes(letter)) else {
        bail!(
            "there is no dead letter `{}` in {}/{}",
            args.id,
            args.of.topic,
            args.of.subscription
        );
    };
    print!("{}", printed::one(letter, args.output)?);
    Ok(())
}

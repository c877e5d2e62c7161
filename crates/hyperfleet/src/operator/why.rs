//! `hyperfleet why`: why a resource is as it is, on one screen, and what to try next.
//!
//! ```text
//!   resource, reports, children, Sentinels ──► Finding (pure) ──► text, json or yaml
//! ```

mod finding;
mod text;

use std::path::PathBuf;

use chrono::Utc;
use clap::Args;
use hyperfleet_client::{Follow, RemoteResource, StatusCode};
use hyperfleet_sentinel::{Flags, Options, Why, why_of};
use serde_json::Value;

use super::asked::Asked;
use super::connect::ConnectArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::fleet::{Fleet, quoted};
use super::kinds::KindInfo;
use super::printer::data;
use super::shape::Document;
use super::walk::Walk;
use crate::output::Look;
use finding::{Evidence, Finding, Times};

/// Children that are looked at; the others are as many as they are.
const CHILDREN: usize = 200;

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// KIND/NAME…, or KIND NAME…
    #[arg(value_name = "WHAT", required = true, add = super::completion::things())]
    what: Vec<String>,
    /// As a document
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Document>,
    /// Configuration file of the Sentinel, for when it sends; without one, its times are those that Sentinels told the
    /// API, else the default ones
    #[arg(long, value_name = "FILE")]
    sentinel_config: Option<PathBuf>,
    /// Among the children of this parent
    #[arg(short, long, value_name = "PARENT")]
    parent: Option<String>,
    #[command(flatten)]
    connect: ConnectArgs,
}

pub(crate) async fn run(args: &WhyArgs) -> Result<Exit, Failure> {
    let fleet = args.connect.connect().await?;
    let found = Asked::resources(&args.what, &fleet, args.parent.as_deref()).await?;
    let mut findings = Vec::new();
    for (kind, resource) in &found {
        findings.push(find(args, &fleet, kind, resource).await?);
    }
    match (args.output, findings.as_slice()) {
        (Some(document), [only]) => data(&document.text(only)?)?,
        (Some(document), many) => data(&document.text(&many)?)?,
        (None, findings) => {
            let look = Look::of_stdout();
            let texts: Vec<String> = findings.iter().map(|it| text::of(it, look)).collect();
            data(&texts.join("\n"))?;
        }
    }
    Ok(Exit::Done)
}

async fn find(
    args: &WhyArgs,
    fleet: &Fleet,
    kind: &KindInfo,
    resource: &RemoteResource,
) -> Result<Finding, Failure> {
    let statuses = fleet.client.statuses(&kind.plural, &resource.id).await;
    let statuses = statuses.map_err(|error| fleet.told(error))?;
    let children = match resource.is_deleting() {
        true => children(fleet, kind, resource).await?,
        false => Vec::new(),
    };
    let sentinels = sentinels(fleet, &kind.plural, resource).await?;
    let (times, options) = options(args, &kind.plural, sentinels.as_deref())?;
    let events = events(&options, &kind.plural, resource)?;
    let names = sentinels.map(|there| names(&there));
    Ok(Finding::of(&Evidence {
        kind,
        resource,
        statuses: &statuses,
        children: &children,
        sentinels: names.as_deref(),
        events: &events,
        times,
        now: Utc::now(),
    }))
}

async fn children(
    fleet: &Fleet,
    kind: &KindInfo,
    resource: &RemoteResource,
) -> Result<Vec<RemoteResource>, Failure> {
    let mut found = Vec::new();
    for child in fleet.kinds().await?.children_of(&kind.kind) {
        let follow = Follow {
            plural: child.plural.clone(),
            search: Some(format!("owner_id = {}", quoted(&resource.id))),
            fields: Some("kind,name,deleted_time,status.phase".to_owned()),
            order: None,
        };
        let mut walk = Walk::new(fleet, &follow);
        while let Some(items) = walk.next().await? {
            found.extend(items);
            if found.len() >= CHILDREN {
                break;
            }
        }
    }
    Ok(found)
}

/// The Sentinels that are there for a resource, as they announced themselves; `None` if the server does not tell.
async fn sentinels(
    fleet: &Fleet,
    plural: &str,
    resource: &RemoteResource,
) -> Result<Option<Vec<Value>>, Failure> {
    let there = match fleet.client.get_json("sentinels").await {
        Ok(there) => there,
        // An older server, or not for everybody's eyes.
        Err(error)
            if matches!(
                error.status(),
                Some(StatusCode::NOT_FOUND | StatusCode::FORBIDDEN)
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(fleet.told(error)),
    };
    let items = there["items"].as_array().map_or(&[][..], Vec::as_slice);
    let takes = |one: &&Value| {
        let mut labels = one["selector"].as_object().into_iter().flatten();
        one["resource_type"] == plural
            && labels
                .all(|(key, value)| resource.labels.get(key).map(String::as_str) == value.as_str())
    };
    Ok(Some(items.iter().filter(takes).cloned().collect()))
}

fn names(sentinels: &[Value]) -> Vec<String> {
    let name = |one: &Value| one["name"].as_str().unwrap_or_default().to_owned();
    let mut names: Vec<String> = sentinels.iter().map(name).collect();
    names.sort();
    names.dedup();
    names
}

/// By what Sentinels decide, and who says so: a file, themselves, or nobody.
fn options(
    args: &WhyArgs,
    plural: &str,
    sentinels: Option<&[Value]>,
) -> Result<(Times, Vec<Options>), Failure> {
    if let Some(file) = &args.sentinel_config {
        let flags = Flags {
            config: Some(file.clone()),
            ..Flags::default()
        };
        let loaded = Options::load(flags, std::iter::empty());
        let loaded = loaded.map_err(|error| Failure::usage(error.to_string()))?;
        let mut options = loaded.value;
        if options.resource_type.is_none() && options.sentinels.is_empty() {
            options.resource_type = Some(plural.to_owned());
        }
        return Ok((Times::Configured, vec![options]));
    }
    let told = sentinels.unwrap_or_default().iter();
    let announced: Vec<Options> = told
        .filter_map(|one| Options::announced(plural, one["decides"].as_object()?))
        .collect();
    if !announced.is_empty() {
        return Ok((Times::Announced, announced));
    }
    let options = Options {
        resource_type: Some(plural.to_owned()),
        ..Options::default()
    };
    Ok((Times::Default, vec![options]))
}

/// What these Sentinels would decide now.
fn events(
    options: &[Options],
    plural: &str,
    resource: &RemoteResource,
) -> Result<Vec<Why>, Failure> {
    let mut events = Vec::new();
    for options in options {
        let decided = why_of(options, plural, resource, Utc::now());
        events.extend(decided.map_err(|error| Failure::usage(error.to_string()))?);
    }
    Ok(events)
}

/// A condition's words, for the text of a finding.
fn words(condition: &Value) -> String {
    super::reports::words(condition)
}

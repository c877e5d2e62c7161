//! `hyperfleet describe`: everything about a resource, for reading.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use clap::Args;
use hyperfleet_client::{ListQuery, RemoteResource, StatusCode, Stretch};
use serde_json::Value;

use super::asked::Asked;
use super::columns::non_empty;
use super::connect::ConnectArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::fleet::{Fleet, called, quoted};
use super::history;
use super::kinds::KindInfo;
use super::printer::data;
use super::reports;
use crate::output::{Cell, Grid, Look, Tone, age, printable};

/// How much of the past is shown.
const RECENT: u32 = 10;
/// Children that are listed by name.
const LISTED: u32 = 20;

#[derive(Debug, Args)]
pub(crate) struct DescribeArgs {
    /// KIND/NAME…, or KIND NAME…
    #[arg(value_name = "WHAT", required = true, add = super::completion::things())]
    what: Vec<String>,
    /// Among the children of this parent
    #[arg(short, long, value_name = "PARENT")]
    parent: Option<String>,
    #[command(flatten)]
    connect: ConnectArgs,
}

pub(crate) async fn run(args: &DescribeArgs) -> Result<Exit, Failure> {
    let fleet = args.connect.connect().await?;
    let found = Asked::resources(&args.what, &fleet, args.parent.as_deref()).await?;
    for (index, (kind, resource)) in found.iter().enumerate() {
        if index > 0 {
            data("\n")?;
        }
        let text = describe(&fleet, kind, resource, Utc::now()).await?;
        data(&text)?;
    }
    Ok(Exit::Done)
}

async fn describe(
    fleet: &Fleet,
    kind: &KindInfo,
    resource: &RemoteResource,
    now: DateTime<Utc>,
) -> Result<String, Failure> {
    let look = Look::of_stdout();
    let mut text = String::new();
    head(&mut text, fleet, resource, look, now).await?;
    section(&mut text, look, "Conditions");
    text.push_str(&conditions(resource, look, now));
    section(&mut text, look, "Adapters");
    let statuses = fleet.client.statuses(&kind.plural, &resource.id).await;
    let statuses = statuses.map_err(|error| fleet.told(error))?;
    text.push_str(&reports::table(&statuses, kind, look, now, 2));
    yaml(&mut text, look, "Spec", &resource.raw["spec"])?;
    yaml(&mut text, look, "References", &resource.raw["references"])?;
    children(&mut text, fleet, kind, resource, look).await?;
    section(&mut text, look, "History");
    let stretch = Stretch {
        limit: RECENT,
        next: None,
    };
    let past = fleet.client.history(&kind.plural, &resource.id, &stretch);
    match past.await {
        Ok(past) => text.push_str(&history::inset(&past["items"], look, now)),
        Err(error) if error.status() == Some(StatusCode::FORBIDDEN) => {
            text.push_str("  not for you to see\n");
        }
        Err(error) => return Err(fleet.told(error)),
    }
    Ok(text)
}

fn section(text: &mut String, look: Look, title: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{}", look.paint(Tone::Strong, &format!("{title}:")));
}

async fn head(
    text: &mut String,
    fleet: &Fleet,
    resource: &RemoteResource,
    look: Look,
    now: DateTime<Utc>,
) -> Result<(), Failure> {
    let raw = |name: &str| resource.raw[name].as_str().unwrap_or_default();
    let moment = |time: Option<DateTime<Utc>>, by: &str| match time {
        Some(time) => format!(
            "{} ({} ago) by {by}",
            time.format("%Y-%m-%d %H:%M:%S UTC"),
            age(time, now)
        ),
        None => String::new(),
    };
    let mut rows = vec![
        ("Name", resource.name.clone(), Tone::Plain),
        ("Kind", resource.kind.clone(), Tone::Plain),
        ("ID", resource.id.clone(), Tone::Plain),
    ];
    if let Some(owner) = &resource.owner_references {
        let parent = fleet.client.get("resources", &owner.id).await;
        let name = parent.map_or_else(|_| owner.id.clone(), |parent| called(&parent));
        rows.push(("Parent", name, Tone::Plain));
    }
    for (index, (key, value)) in resource.labels.iter().enumerate() {
        let title = if index == 0 { "Labels" } else { "" };
        rows.push((title, format!("{key}={value}"), Tone::Plain));
    }
    let created = moment(resource.created_time, raw("created_by"));
    let updated = moment(resource.updated_time, raw("updated_by"));
    rows.push(("Generation", resource.generation.to_string(), Tone::Plain));
    rows.push(("Created", created, Tone::Plain));
    rows.push(("Updated", updated, Tone::Plain));
    let deleted = moment(resource.deleted_time, raw("deleted_by"));
    if !deleted.is_empty() {
        rows.push(("Deleted", deleted, Tone::Bad));
    }
    let phase = resource.status.phase.as_deref().unwrap_or("-");
    let words = resource.raw["status"]["phaseDescription"].as_str();
    rows.push(("Phase", phase.to_owned(), Tone::of_phase(phase)));
    if let Some(words) = words.filter(|words| !words.is_empty()) {
        rows.push(("", words.to_owned(), Tone::Plain));
    }
    for (title, value, tone) in rows {
        let title = match title {
            "" => String::new(),
            title => format!("{title}:"),
        };
        let value = look.paint(tone, &printable(&value));
        let _ = writeln!(text, "{title:<12} {value}");
    }
    Ok(())
}

fn conditions(resource: &RemoteResource, look: Look, now: DateTime<Utc>) -> String {
    let rows: Vec<Vec<Cell>> = resource
        .status
        .conditions
        .iter()
        .map(|condition| {
            let since = condition.last_transition_time;
            vec![
                Cell::new(&condition.kind),
                Cell::toned(&condition.status, Tone::of_status(&condition.status)),
                Cell::new(since.map_or_else(|| "-".to_owned(), |since| age(since, now))),
                Cell::new(non_empty(&condition.reason)),
                Cell::new(&condition.message),
            ]
        })
        .collect();
    if rows.is_empty() {
        return "  none\n".to_owned();
    }
    let heads = ["TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"];
    Grid::new(heads, look).indented(2).page(&rows)
}

/// A member that is there and not empty.
fn yaml(text: &mut String, look: Look, title: &str, value: &Value) -> Result<(), Failure> {
    if value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty) {
        return Ok(());
    }
    section(text, look, title);
    let yaml = serde_yaml_ng::to_string(value).map_err(anyhow::Error::from)?;
    for line in yaml.lines() {
        let _ = writeln!(text, "  {}", printable(line));
    }
    Ok(())
}

async fn children(
    text: &mut String,
    fleet: &Fleet,
    kind: &KindInfo,
    resource: &RemoteResource,
    look: Look,
) -> Result<(), Failure> {
    let kinds: Vec<&KindInfo> = fleet.kinds().await?.children_of(&kind.kind).collect();
    if kinds.is_empty() {
        return Ok(());
    }
    section(text, look, "Children");
    for kind in kinds {
        let query = ListQuery {
            search: Some(format!("owner_id = {}", quoted(&resource.id))),
            size: Some(LISTED),
            fields: Some("name".to_owned()),
            order: Some("name".to_owned()),
            ..ListQuery::default()
        };
        let page = fleet.client.list(&kind.plural, &query).await;
        let page = page.map_err(|error| fleet.told(error))?;
        let mut names: Vec<String> = page.items.iter().map(|one| printable(&one.name)).collect();
        if page.total > u64::from(LISTED) {
            names.push("…".to_owned());
        }
        let names = match names.is_empty() {
            true => String::new(),
            false => format!(": {}", names.join(", ")),
        };
        let _ = writeln!(text, "  {} {}{names}", page.total, kind.plural);
    }
    Ok(())
}

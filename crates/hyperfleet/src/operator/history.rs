//! `hyperfleet history` and `hyperfleet audit`: what happened, to one resource and in the whole fleet.

use chrono::{DateTime, Utc};
use clap::Args;
use hyperfleet_client::{AuditQuery, Stretch};
use hyperfleet_core::identity::ANONYMOUS;
use serde_json::{Value, json};

use super::asked::Asked;
use super::connect::ConnectArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::fleet::Fleet;
use super::printer::data;
use super::reports::{time, words};
use super::shape::Document;
use crate::output::{Cell, Grid, Look, Tone, age};

/// Lines asked for at once.
const STRETCH: u32 = 500;

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// KIND/NAME, or KIND NAME; of what is gone, KIND/ID
    #[arg(value_name = "WHAT", required = true, num_args = 1..=2, add = super::completion::things())]
    what: Vec<String>,
    /// Among the children of this parent
    #[arg(short, long, value_name = "PARENT")]
    parent: Option<String>,
    #[command(flatten)]
    shown: Shown,
    #[command(flatten)]
    connect: ConnectArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Only what was done to this resource: KIND/NAME, or KIND/ID of what is gone
    #[arg(value_name = "KIND/NAME", add = super::completion::things())]
    what: Option<String>,
    /// Only what was done to resources of this kind
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Only what this person or system did
    #[arg(long, value_name = "WHO")]
    actor: Option<String>,
    /// Only this: create, patch, delete, remove, force-delete, orphan, lose-reference
    #[arg(long, value_name = "ACTION")]
    action: Option<String>,
    #[command(flatten)]
    shown: Shown,
    #[command(flatten)]
    connect: ConnectArgs,
}

#[derive(Debug, Args)]
struct Shown {
    /// How many lines at most, the newest first; 0 for all
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: usize,
    /// Whole entries instead of a table
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Document>,
}

pub(crate) async fn run(args: &HistoryArgs) -> Result<Exit, Failure> {
    let fleet = args.connect.connect().await?;
    let (plural, id) = the_one(&fleet, &args.what, args.parent.as_deref()).await?;
    let (fleet, plural, id) = (&fleet, plural.as_str(), id.as_str());
    show(fleet, &args.shown, Of::One, |stretch| async move {
        fleet.client.history(plural, id, &stretch).await
    })
    .await
}

/// What is gone has a history too, and only its id finds it.
async fn the_one(
    fleet: &Fleet,
    what: &[String],
    parent: Option<&str>,
) -> Result<(String, String), Failure> {
    if let Asked::Named(named) = Asked::read(what)?
        && let [(kind, id)] = named.as_slice()
        && hyperfleet_core::identity::ResourceId::parse(id).is_some()
    {
        return Ok((fleet.kind(kind).await?.plural.clone(), id.clone()));
    }
    let mut found = Asked::resources(what, fleet, parent).await?;
    match (found.pop(), found.is_empty()) {
        (Some((kind, resource)), true) => Ok((kind.plural.clone(), resource.id)),
        _ => Err(Failure::usage("one resource at a time")),
    }
}

pub(crate) async fn audit(args: &AuditArgs) -> Result<Exit, Failure> {
    let fleet = args.connect.connect().await?;
    let resource_id = match &args.what {
        Some(what) => Some(the_one(&fleet, std::slice::from_ref(what), None).await?.1),
        None => None,
    };
    let kind = match &args.kind {
        Some(kind) => Some(fleet.kind(kind).await?.kind.clone()),
        None => None,
    };
    let query = AuditQuery {
        resource_id,
        kind,
        actor: args.actor.clone(),
        action: args.action.clone(),
    };
    let (fleet, query) = (&fleet, &query);
    show(fleet, &args.shown, Of::All, |stretch| async move {
        fleet.client.audit(query, &stretch).await
    })
    .await
}

/// Prints a log stretch by stretch, as it comes.
async fn show<F, A>(fleet: &Fleet, shown: &Shown, of: Of, ask: F) -> Result<Exit, Failure>
where
    F: Fn(Stretch) -> A,
    A: Future<Output = Result<Value, hyperfleet_client::CallError>>,
{
    let most = match shown.limit {
        0 => usize::MAX,
        limit => limit,
    };
    let (mut next, mut told) = (None, 0);
    let mut grid = Grid::new(of.heads(), Look::of_stdout());
    let mut kept = Vec::new();
    while told < most {
        let limit = u32::try_from(most - told).unwrap_or(STRETCH).min(STRETCH);
        let answer = ask(Stretch { limit, next }).await;
        let mut answer = answer.map_err(|error| fleet.told(error))?;
        let items = answer["items"].as_array().map_or(0, Vec::len);
        told += items;
        match shown.output {
            None if items == 0 => {}
            None => data(&grid.page(&rows(&answer["items"], of, Utc::now())))?,
            Some(_) => kept.push(answer["items"].take()),
        }
        next = answer["continue"].as_str().map(str::to_owned);
        if next.is_none() || items == 0 {
            break;
        }
    }
    match shown.output {
        Some(document) => {
            let items: Vec<&Value> = kept.iter().filter_map(Value::as_array).flatten().collect();
            data(&document.text(&json!({ "items": items }))?)?;
        }
        None if told == 0 => eprintln!("nothing happened"),
        None => {}
    }
    Ok(Exit::Done)
}

/// Whose log it is: that of one resource does not say on every line whose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    One,
    All,
}

impl Of {
    fn heads(self) -> &'static [&'static str] {
        match self {
            Of::One => &["AGE", "WHO", "WHAT", "DETAIL"],
            Of::All => &["AGE", "WHO", "WHAT", "RESOURCE", "DETAIL"],
        }
    }
}

/// A few lines of a resource's log inside something else.
pub(crate) fn inset(items: &Value, look: Look, now: DateTime<Utc>) -> String {
    let rows = rows(items, Of::One, now);
    match rows.is_empty() {
        true => "  nothing\n".to_owned(),
        false => Grid::new(Of::One.heads(), look).indented(2).page(&rows),
    }
}

fn rows(items: &Value, of: Of, now: DateTime<Utc>) -> Vec<Vec<Cell>> {
    let items = items.as_array().map_or(&[][..], Vec::as_slice);
    items.iter().map(|entry| row(entry, of, now)).collect()
}

fn row(entry: &Value, of: Of, now: DateTime<Utc>) -> Vec<Cell> {
    let text = |name: &str| entry[name].as_str().unwrap_or_default();
    let when = time(entry, "time").map_or_else(|| "-".to_owned(), |at| age(at, now));
    if let Some(adapter) = entry["adapter"].as_str() {
        let phase = text("phase");
        return vec![
            Cell::new(when),
            Cell::new(reporter(adapter, text("actor"))),
            Cell::toned(phase, Tone::of_phase(phase)),
            Cell::new(changes(&entry["changes"])),
        ];
    }
    let action = text("action");
    let tone = match action {
        "delete" | "remove" | "force-delete" => Tone::Bad,
        _ => Tone::Plain,
    };
    let mut detail = Vec::new();
    if let Some(generation) = entry["generation"].as_i64() {
        detail.push(format!("generation {generation}"));
    }
    if let Some(set) = entry["detail"].as_object() {
        let keys: Vec<&str> = set.keys().map(String::as_str).collect();
        detail.push(keys.join(", "));
    }
    if !text("reason").is_empty() {
        detail.push(text("reason").to_owned());
    }
    let mut row = vec![
        Cell::new(when),
        Cell::new(text("actor")),
        Cell::toned(action, tone),
    ];
    if of == Of::All {
        row.push(Cell::new(match (text("kind"), text("name")) {
            ("", _) => String::new(),
            (kind, name) => format!("{}/{name}", kind.to_lowercase()),
        }));
    }
    row.push(Cell::new(detail.join("; ")));
    row
}

/// An adapter, and who spoke for it if that is known and has another name.
fn reporter(adapter: &str, actor: &str) -> String {
    match actor {
        "" | ANONYMOUS => adapter.to_owned(),
        actor if actor == adapter => adapter.to_owned(),
        actor => format!("{adapter} ({actor})"),
    }
}

/// Conditions that changed for the same reason are told together.
fn changes(changes: &Value) -> String {
    let mut told: Vec<(String, Vec<String>)> = Vec::new();
    for change in changes.as_array().into_iter().flatten() {
        let words = words(change);
        match told.last_mut().filter(|(before, _)| *before == words) {
            Some((_, together)) => together.push(moved(change)),
            None => told.push((words, vec![moved(change)])),
        }
    }
    let told: Vec<String> = told
        .into_iter()
        .map(|(words, together)| match words.is_empty() {
            true => together.join(", "),
            false => format!("{} ({words})", together.join(", ")),
        })
        .collect();
    told.join("; ")
}

fn moved(change: &Value) -> String {
    let text = |name: &str| change[name].as_str().unwrap_or("none");
    let (kind, from, to) = (text("type"), text("from"), text("to"));
    match from == to || change["from"].is_null() {
        true => format!("{kind}={to}"),
        false => format!("{kind} {from}→{to}"),
    }
}

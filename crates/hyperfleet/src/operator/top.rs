//! `hyperfleet top`: how the fleet is, in numbers, and what has been stuck for longest.

use chrono::{DateTime, Utc};
use clap::Args;
use hyperfleet_client::{Follow, ListQuery, RemoteResource};
use serde_json::{Map, Value, json};

use super::connect::ConnectArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::fleet::{Fleet, called, quoted};
use super::kinds::KindInfo;
use super::printer::data;
use super::shape::Document;
use super::walk::Walk;
use crate::output::{Cell, Grid, Look, Tone, age};

/// The phases there are, as they are counted.
const PHASES: [&str; 6] = [
    "Ready",
    "Provisioning",
    "Pending",
    "Failed",
    "Degraded",
    "Terminating",
];
/// Of what is not reconciled, so many are looked at for those that have been so for longest.
const LOOKED_AT: usize = 5_000;

#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// How many of those that are stuck to show
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 10)]
    number: usize,
    /// As a document
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Document>,
    #[command(flatten)]
    connect: ConnectArgs,
}

pub(crate) async fn run(args: &TopArgs) -> Result<Exit, Failure> {
    let fleet = args.connect.connect().await?;
    let mut counts = Vec::new();
    let mut stuck = Vec::new();
    let mut all_seen = true;
    for kind in fleet.kinds().await?.iter() {
        counts.push((kind, count(&fleet, kind).await?));
        let (found, complete) = unreconciled(&fleet, kind).await?;
        stuck.extend(found);
        all_seen &= complete;
    }
    stuck.sort_by_key(|(since, _)| *since);
    stuck.truncate(args.number);
    match args.output {
        Some(document) => data(&document.text(&told(&counts, &stuck))?)?,
        None => print(&counts, &stuck)?,
    }
    if !all_seen {
        eprintln!("only {LOOKED_AT} of each kind that are not reconciled were looked at");
    }
    Ok(Exit::Done)
}

/// How many there are, and in each phase.
struct Count {
    total: u64,
    phases: Vec<(&'static str, u64)>,
}

async fn count(fleet: &Fleet, kind: &KindInfo) -> Result<Count, Failure> {
    let total = async |search: Option<String>| {
        let query = ListQuery {
            search,
            size: Some(1),
            fields: Some("id".to_owned()),
            ..ListQuery::default()
        };
        let page = fleet.client.list(&kind.plural, &query).await;
        page.map(|page| page.total)
            .map_err(|error| fleet.told(error))
    };
    let mut phases = Vec::new();
    for phase in PHASES {
        let search = format!("status.phase = {}", quoted(phase));
        phases.push((phase, total(Some(search)).await?));
    }
    Ok(Count {
        total: total(None).await?,
        phases,
    })
}

/// What is not reconciled, and since when; whether that is all of it.
async fn unreconciled(
    fleet: &Fleet,
    kind: &KindInfo,
) -> Result<(Vec<(DateTime<Utc>, RemoteResource)>, bool), Failure> {
    let follow = Follow {
        plural: kind.plural.clone(),
        search: Some("status.conditions.Reconciled = 'False'".to_owned()),
        fields: Some("kind,name,generation,deleted_time,status.phase,status.conditions".to_owned()),
        // The oldest first: what has been stuck for longest is not new.
        order: Some("created_time asc".to_owned()),
    };
    let mut found = Vec::new();
    let mut walk = Walk::new(fleet, &follow);
    while let Some(items) = walk.next().await? {
        for item in items {
            let since = item
                .condition("Reconciled")
                .and_then(|it| it.last_transition_time);
            found.extend(since.map(|since| (since, item)));
        }
        if found.len() >= LOOKED_AT {
            return Ok((found, false));
        }
    }
    Ok((found, true))
}

fn print(
    counts: &[(&KindInfo, Count)],
    stuck: &[(DateTime<Utc>, RemoteResource)],
) -> Result<(), Failure> {
    let look = Look::of_stdout();
    let heads = ["KIND", "TOTAL"]
        .into_iter()
        .chain(PHASES)
        .map(str::to_uppercase);
    let rows: Vec<Vec<Cell>> = counts
        .iter()
        .map(|(kind, count)| {
            let mut row = vec![Cell::new(&kind.plural), Cell::new(count.total.to_string())];
            row.extend(count.phases.iter().map(|(phase, number)| match number {
                0 => Cell::toned("0", Tone::Faint),
                number => Cell::toned(number.to_string(), Tone::of_phase(phase)),
            }));
            row
        })
        .collect();
    data(&Grid::new(heads, look).page(&rows))?;
    if stuck.is_empty() {
        return Ok(());
    }
    let now = Utc::now();
    let rows: Vec<Vec<Cell>> = stuck
        .iter()
        .map(|(since, resource)| {
            let phase = resource.status.phase.as_deref().unwrap_or("-");
            let reconciled = resource.condition("Reconciled");
            vec![
                Cell::new(called(resource)),
                Cell::toned(phase, Tone::of_phase(phase)),
                Cell::new(age(*since, now)),
                Cell::new(reconciled.map_or("", |it| it.reason.as_str())),
                Cell::new(reconciled.map_or("", |it| it.message.as_str())),
            ]
        })
        .collect();
    let heads = ["NOT RECONCILED", "PHASE", "SINCE", "REASON", "MESSAGE"];
    data("\n")?;
    data(&Grid::new(heads, look).page(&rows))
}

fn told(counts: &[(&KindInfo, Count)], stuck: &[(DateTime<Utc>, RemoteResource)]) -> Value {
    let kinds: Vec<Value> = counts
        .iter()
        .map(|(kind, count)| {
            let phases: Map<String, Value> = count
                .phases
                .iter()
                .map(|(phase, number)| ((*phase).to_owned(), json!(number)))
                .collect();
            json!({"kind": kind.kind, "total": count.total, "phases": phases})
        })
        .collect();
    let stuck: Vec<Value> = stuck
        .iter()
        .map(|(since, resource)| {
            let reconciled = resource.condition("Reconciled");
            json!({
                "id": resource.id, "kind": resource.kind, "name": resource.name,
                "phase": resource.status.phase, "since": since,
                "reason": reconciled.map(|it| &it.reason), "message": reconciled.map(|it| &it.message),
            })
        })
        .collect();
    json!({"kinds": kinds, "not_reconciled": stuck})
}

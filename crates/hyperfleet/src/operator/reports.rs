//! `hyperfleet statuses`: what each adapter last said about a resource.

use chrono::{DateTime, Utc};
use clap::Args;
use serde_json::Value;

use super::asked::Asked;
use super::connect::ConnectArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::kinds::KindInfo;
use super::printer::data;
use super::shape::Document;
use crate::output::{Cell, Grid, Look, Tone, age};

#[derive(Debug, Args)]
pub(crate) struct StatusesArgs {
    /// KIND/NAME, or KIND NAME
    #[arg(value_name = "WHAT", required = true, num_args = 1..=2, add = super::completion::things())]
    what: Vec<String>,
    /// Among the children of this parent
    #[arg(short, long, value_name = "PARENT")]
    parent: Option<String>,
    /// The whole document instead of a table
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Document>,
    #[command(flatten)]
    connect: ConnectArgs,
}

pub(crate) async fn run(args: &StatusesArgs) -> Result<Exit, Failure> {
    let fleet = args.connect.connect().await?;
    let found = Asked::resources(&args.what, &fleet, args.parent.as_deref()).await?;
    for (kind, resource) in found {
        let statuses = fleet.client.statuses(&kind.plural, &resource.id).await;
        let statuses = statuses.map_err(|error| fleet.told(error))?;
        match args.output {
            Some(document) => data(&document.text(&statuses)?)?,
            None => data(&table(&statuses, kind, Look::of_stdout(), Utc::now(), 0))?,
        }
    }
    Ok(Exit::Done)
}

/// One report, whichever form of the document it came in.
pub(crate) fn each(statuses: &Value) -> impl Iterator<Item = &Value> {
    let document = statuses["adapter_statuses"].as_array();
    let page = statuses["items"].as_array();
    document.or(page).into_iter().flatten()
}

/// A condition of a report.
pub(crate) fn condition<'v>(report: &'v Value, kind: &str) -> Option<&'v Value> {
    let conditions = report["conditions"].as_array()?;
    conditions
        .iter()
        .find(|condition| condition["type"] == kind)
}

pub(crate) fn time(value: &Value, name: &str) -> Option<DateTime<Utc>> {
    value[name].as_str()?.parse().ok()
}

/// Every report in a line, and a line for each required adapter that never spoke.
pub(crate) fn table(
    statuses: &Value,
    kind: &KindInfo,
    look: Look,
    now: DateTime<Utc>,
    indent: usize,
) -> String {
    let mut rows: Vec<Vec<Cell>> = each(statuses).map(|report| row(report, now)).collect();
    let silent = kind
        .required_adapters
        .iter()
        .filter(|name| each(statuses).all(|report| report["adapter"] != name.as_str()));
    for name in silent {
        let mut row = vec![Cell::new(name)];
        row.extend(std::iter::repeat_n(Cell::toned("-", Tone::Faint), 6));
        row.push(Cell::toned("has never reported", Tone::Working));
        rows.push(row);
    }
    if rows.is_empty() {
        return format!("{}none has reported\n", " ".repeat(indent));
    }
    let heads = [
        "ADAPTER",
        "GEN",
        "APPLIED",
        "AVAILABLE",
        "HEALTH",
        "FINALIZED",
        "REPORTED",
        "SAYS",
    ];
    Grid::new(heads, look).indented(indent).page(&rows)
}

fn row(report: &Value, now: DateTime<Utc>) -> Vec<Cell> {
    let status = |kind: &str| match condition(report, kind).and_then(|it| it["status"].as_str()) {
        Some(status) => Cell::toned(status, Tone::of_status(status)),
        None => Cell::toned("-", Tone::Faint),
    };
    let reported = time(report, "last_report_time");
    let generation = report["observed_generation"].as_i64();
    vec![
        Cell::new(report["adapter"].as_str().unwrap_or("-")),
        Cell::new(generation.map_or_else(|| "-".to_owned(), |it| it.to_string())),
        status("Applied"),
        status("Available"),
        status("Health"),
        status("Finalized"),
        Cell::new(reported.map_or_else(|| "-".to_owned(), |it| age(it, now))),
        Cell::new(says(report)),
    ]
}

/// The condition that matters most, in words: what is unhealthy before what is not there yet.
pub(crate) fn says(report: &Value) -> String {
    let unhealthy = condition(report, "Health").filter(|it| it["status"] == "False");
    let telling = unhealthy.or_else(|| condition(report, "Available"));
    telling.map_or_else(String::new, words)
}

/// `Reason: message`, or whichever is there.
pub(crate) fn words(condition: &Value) -> String {
    let text = |name: &str| condition[name].as_str().unwrap_or_default();
    match (text("reason"), text("message")) {
        (reason, "") => reason.to_owned(),
        ("", message) => message.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}

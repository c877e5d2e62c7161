//! `hyperfleet report`: a status by hand, where an adapter cannot or must not speak.

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::asked::Asked;
use super::connect::ConnectArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::fleet::called;
use super::printer::data;

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// KIND/NAME, or KIND NAME
    #[arg(value_name = "WHAT", required = true, num_args = 1..=2, add = super::completion::things())]
    what: Vec<String>,
    /// In whose name
    #[arg(short, long, value_name = "NAME")]
    adapter: String,
    /// The objects exist
    #[arg(long, value_enum, default_value = "true", value_name = "STATUS")]
    applied: Status,
    /// The work is done
    #[arg(long, value_enum, default_value = "true", value_name = "STATUS")]
    available: Status,
    /// Nothing unexpected happened to the adapter
    #[arg(long, value_enum, default_value = "true", value_name = "STATUS")]
    health: Status,
    /// Nothing is left to clean up, while it is being deleted
    #[arg(long, value_enum, value_name = "STATUS")]
    finalized: Option<Status>,
    /// Another condition: TYPE=STATUS; may be repeated
    #[arg(long, value_name = "TYPE=STATUS")]
    condition: Vec<String>,
    /// Why, in one word, for all of them
    #[arg(long, value_name = "WORD", default_value = "ReportedByHand")]
    reason: String,
    /// Why, in a sentence
    #[arg(long, value_name = "TEXT", default_value = "")]
    message: String,
    /// What else to say, as JSON or YAML
    #[arg(long, value_name = "DATA")]
    data: Option<String>,
    /// The generation that was looked at; the current one if it is left out
    #[arg(long, value_name = "NUMBER")]
    generation: Option<i64>,
    /// Among the children of this parent
    #[arg(short, long, value_name = "PARENT")]
    parent: Option<String>,
    #[command(flatten)]
    connect: ConnectArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Status {
    True,
    False,
    Unknown,
}

impl Status {
    fn as_str(self) -> &'static str {
        match self {
            Status::True => "True",
            Status::False => "False",
            Status::Unknown => "Unknown",
        }
    }
}

pub(crate) async fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    let fleet = args.connect.connect().await?;
    let found = Asked::resources(&args.what, &fleet, args.parent.as_deref()).await?;
    for (kind, resource) in &found {
        let generation = args.generation.unwrap_or(resource.generation);
        let body = body(args, generation)?;
        let taken = fleet.client.report(&kind.plural, &resource.id, &body).await;
        let taken = taken.map_err(|error| fleet.told(error))?;
        let (name, adapter) = (called(resource), &args.adapter);
        if taken.is_none() {
            return Err(Failure::new(
                Exit::Conflict,
                format!("the report of {adapter} on {name} was discarded"),
            )
            .detail(
                "something newer is known, or it speaks of a generation that does not exist yet",
            )
            .hint(format!("hyperfleet statuses {name}")));
        }
        data(&format!("{name} reported on by {adapter}\n"))?;
    }
    Ok(Exit::Done)
}

fn body(args: &ReportArgs, generation: i64) -> Result<Value, Failure> {
    let condition = |kind: &str, status: &str| json!({"type": kind, "status": status, "reason": args.reason, "message": args.message});
    let mut conditions = vec![
        condition("Applied", args.applied.as_str()),
        condition("Available", args.available.as_str()),
        condition("Health", args.health.as_str()),
    ];
    if let Some(finalized) = args.finalized {
        conditions.push(condition("Finalized", finalized.as_str()));
    }
    for other in &args.condition {
        let Some((kind, status)) = other.split_once('=') else {
            return Err(Failure::usage(format!(
                "`{other}` is no condition; write TYPE=STATUS"
            )));
        };
        let status = Status::from_str(status, true).map_err(|_| {
            Failure::usage(format!("`{other}`: a status is True, False or Unknown"))
        })?;
        conditions.push(condition(kind, status.as_str()));
    }
    let extra = match &args.data {
        Some(text) => serde_yaml_ng::from_str(text)
            .map_err(|error| Failure::usage(format!("--data is neither JSON nor YAML: {error}")))?,
        None => Value::Object(Map::new()),
    };
    Ok(json!({
        "adapter": args.adapter,
        "observed_generation": generation,
        "observed_time": chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Millis, true),
        "conditions": conditions,
        "data": extra,
    }))
}

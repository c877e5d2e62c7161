//! `hyperfleet sentinel why`: what would be decided about one resource now, by which rule, from which values.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use chrono::{TimeDelta, Utc};
use hyperfleet_sentinel::{Flags, Options, Why, why};
use serde_json::{Map, Value};

use crate::cli::SentinelWhyArgs;
use crate::output::{Format, printable};

const LOCAL: &str = "http://localhost:8000";

pub(crate) async fn run(args: SentinelWhyArgs) -> Result<()> {
    let (kind, name) = args
        .resource
        .split_once('/')
        .filter(|(kind, name)| !kind.is_empty() && !name.is_empty())
        .with_context(|| {
            let asked = &args.resource;
            format!(
                "`{asked}` is no resource; write its kind and its name or id: cluster/production-1"
            )
        })?;
    let flags = Flags {
        config: args.config,
        api_base_url: args.hyperfleet_api_base_url,
        ..Flags::default()
    };
    let mut options = Options::load(flags, std::env::vars())?.value;
    if options.resource_type.is_none() && options.sentinels.is_empty() {
        options.resource_type = Some(plural(kind));
    }
    let api = &mut options.clients.hyperfleet_api.base_url;
    if api.is_empty() && options.hyperfleet_api.endpoint.is_none() {
        LOCAL.clone_into(api);
    }
    let answers = why(&options, kind, name, Utc::now()).await?;
    match args.output {
        Format::Json => println!("{}", serde_json::to_string_pretty(&answers)?),
        Format::Yaml => print!("{}", serde_yaml_ng::to_string(&answers)?),
        Format::Text => {
            for answer in &answers {
                print!("{}", text(answer)?);
            }
        }
    }
    Ok(())
}

fn plural(kind: &str) -> String {
    let kind = kind.to_lowercase();
    match kind.ends_with('s') {
        true => kind,
        false => kind + "s",
    }
}

fn text(why: &Why) -> Result<String> {
    let mut out = String::new();
    let of = |fields: &Map<String, Value>, name: &str| match fields.get(name) {
        Some(Value::String(text)) => printable(text),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let resource = |name| of(&why.resource, name);
    let (kind, name) = (resource("kind"), resource("name"));
    let (id, generation) = (resource("id"), resource("generation"));
    writeln!(out, "{kind} {name} ({id}), generation {generation}")?;
    let sentinel = |name| of(&why.sentinel, name);
    let (name, selector) = (sentinel("name"), sentinel("selector"));
    writeln!(
        out,
        "  Sentinel   {name}, selector {selector}, to {}",
        sentinel("topic")
    )?;
    if !why.watched {
        writeln!(
            out,
            "  Event      none: the selector does not take its labels"
        )?;
        return Ok(out);
    }
    let reason = printable(&why.reason);
    if why.due {
        writeln!(out, "  Event      due now: {reason}")?;
    } else {
        let left = (why.at - why.now).max(TimeDelta::zero());
        let seconds = left.as_seconds_f64();
        writeln!(
            out,
            "  Event      in {seconds:.1} s, at {}: {reason}",
            why.at.to_rfc3339()
        )?;
    }
    writeln!(out, "  Rule       {}", why.rule)?;
    writeln!(out, "  Saw")?;
    for (name, value) in &why.saw {
        writeln!(out, "    {name}: {value}")?;
    }
    writeln!(
        out,
        "  A running Sentinel that has sent an event for this generation waits for its backoff before the next one."
    )?;
    Ok(out)
}

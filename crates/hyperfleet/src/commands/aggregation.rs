//! `hyperfleet aggregation validate`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use hyperfleet_api::ApiConfig;
use hyperfleet_core::aggregation::config::AggregationConfig;
use hyperfleet_core::aggregation::{Rulebook, RulesError};
use hyperfleet_core::kind::Kind;
use hyperfleet_source::{Diagnostic, Severity, SourceFile};
use serde_json::{Value, json};

use super::api;
use crate::cli::AggregationValidateArgs;
use crate::output::Format;

pub(crate) fn validate(args: &AggregationValidateArgs) -> Result<ExitCode> {
    let kinds = api::loader(args.config.clone())
        .load::<ApiConfig>()?
        .value
        .entities;
    let text = std::fs::read_to_string(&args.file)
        .with_context(|| format!("cannot read {}", args.file.display()))?;
    let file = SourceFile::new(args.file.display().to_string(), text);
    let found = check(&file, &kinds)?;
    let is_good = found.iter().all(|one| one.severity == Severity::Warning);
    match args.output {
        Format::Text => print_text(&args.file, &found, is_good),
        Format::Json => {
            let all: Vec<Value> = found.iter().map(as_json).collect();
            let document = json!({"file": args.file, "valid": is_good, "diagnostics": all});
            println!("{}", serde_json::to_string_pretty(&document)?);
        }
        Format::Yaml => bail!("what was found is printed as text or json"),
    }
    Ok(ExitCode::from(u8::from(!is_good)))
}

/// Mistakes, and what only looks odd.
fn check(file: &SourceFile, kinds: &[Kind]) -> Result<Vec<Diagnostic>> {
    let configs = match AggregationConfig::read(file) {
        Ok(configs) => configs,
        Err(mistakes) => return Ok(mistakes.into_vec()),
    };
    match Rulebook::new(kinds, &configs) {
        Ok((_, odd)) => Ok(odd),
        Err(RulesError::Config(mistakes)) => Ok(mistakes.into_vec()),
        Err(mappings) => Err(mappings).context("the API's configuration has mistakes"),
    }
}

fn print_text(file: &Path, found: &[Diagnostic], is_good: bool) {
    for (index, one) in found.iter().enumerate() {
        let gap = if index > 0 { "\n" } else { "" };
        eprintln!("{gap}{one}");
    }
    if is_good {
        eprintln!("{}: no mistakes", file.display());
    }
}

fn as_json(found: &Diagnostic) -> Value {
    let at = found.file.position(found.span.start);
    json!({
        "severity": found.severity.to_string(),
        "file": found.file.name(),
        "line": at.line,
        "column": at.column,
        "message": found.message,
        "help": found.help,
    })
}

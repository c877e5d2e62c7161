//! `hyperfleet auth can-i`: asks the API, which alone knows.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hyperfleet_core::identity::ResourceId;
use serde_json::Value;

use super::connect::ConnectArgs;
use super::contexts::TokenSource;
use super::exit::Exit;
use super::failure::Failure;
use super::fleet::{Fleet, split};
use super::printer::data;
use crate::output::{Format, printable};
use crate::wire::encoded;

#[derive(Debug, Subcommand)]
pub(crate) enum AuthCommand {
    /// Whether one may do something; the exit code is 1 when not
    CanI(CanIArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CanIArgs {
    /// get, list, watch, create, patch, delete, force-delete, report, audit, note or announce
    verb: String,
    /// A kind, or one resource: cluster, or cluster/NAME, or cluster/ID
    #[arg(add = super::completion::things())]
    resource: Option<String>,
    /// A file with the token to show, instead of the one of the context or of HYPERFLEET_TOKEN
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// How to print the answer
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    output: Format,
    #[command(flatten)]
    connect: ConnectArgs,
}

pub(crate) async fn run(command: &AuthCommand) -> Result<Exit, Failure> {
    match command {
        AuthCommand::CanI(args) => can_i(args).await,
    }
}

async fn can_i(args: &CanIArgs) -> Result<Exit, Failure> {
    let fleet = match &args.token_file {
        None => args.connect.connect().await?,
        Some(file) => {
            let token = TokenSource::File(file.clone());
            args.connect.connect_with(Some(token)).await?
        }
    };
    let (kind, id) = what(&fleet, args.resource.as_deref()).await?;
    let mut query = vec![("verb", args.verb.as_str())];
    query.extend(kind.as_deref().map(|kind| ("kind", kind)));
    query.extend(id.as_deref().map(|id| ("id", id)));
    let answer = fleet
        .client
        .get_json(&format!("can-i?{}", encoded(&query)))
        .await
        .map_err(|error| fleet.told(error))?;
    let allowed = answer["allowed"] == true;
    match args.output {
        Format::Json => {
            let json = serde_json::to_string_pretty(&answer).map_err(anyhow::Error::from)?;
            data(&(json + "\n"))?;
        }
        Format::Yaml => data(&serde_yaml_ng::to_string(&answer).map_err(anyhow::Error::from)?)?,
        Format::Text => {
            data(if allowed { "yes\n" } else { "no\n" })?;
            if let Value::String(reason) = &answer["reason"] {
                eprintln!("{}", printable(reason));
            }
        }
    }
    Ok(match allowed {
        true => Exit::Done,
        false => Exit::Failed,
    })
}

/// The kind and the id that are meant, if any are.
async fn what(
    fleet: &Fleet,
    word: Option<&str>,
) -> Result<(Option<String>, Option<String>), Failure> {
    let Some(word) = word else {
        return Ok((None, None));
    };
    let (kind, name) = match word.contains('/') {
        true => split(word).map(|(kind, name)| (kind, Some(name)))?,
        false => (word, None),
    };
    let kind = fleet.kind(kind).await?;
    let id = match name {
        // Whether there is such a resource is for the API to say, and not to everybody.
        Some(id) if ResourceId::parse(id).is_some() => Some(id.to_owned()),
        Some(name) => Some(fleet.find(kind, name, None).await?.id),
        None => None,
    };
    let kind = (!kind.is_every()).then(|| kind.kind.clone());
    Ok((kind, id))
}

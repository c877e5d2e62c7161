//! `hyperfleet version`: what this program is, and what the server is.

use clap::Args;
use serde_json::json;

use super::connect::ConnectArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::place::Chosen;
use super::printer::data;
use crate::build::{COMMIT, VERSION};
use crate::output::{Format, printable};

#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    /// How to print it
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    output: Format,
    /// Do not ask the server
    #[arg(long)]
    client: bool,
    #[command(flatten)]
    connect: ConnectArgs,
}

pub(crate) async fn run(args: &VersionArgs) -> Result<Exit, Failure> {
    let server = match args.client {
        true => None,
        false => server(&args.connect).await?,
    };
    let mut told = json!({"version": VERSION, "commit": COMMIT});
    if let Some((place, version)) = &server {
        told["server"] = json!({"url": place, "version": version});
    }
    match args.output {
        Format::Text => {
            data(&format!("hyperfleet {VERSION} ({COMMIT})\n"))?;
            if let Some((place, version)) = server {
                data(&format!("server     {} at {place}\n", printable(&version)))?;
            }
        }
        Format::Json => data(&format!("{told}\n"))?,
        Format::Yaml => data(&serde_yaml_ng::to_string(&told).map_err(anyhow::Error::from)?)?,
    }
    Ok(Exit::Done)
}

/// The server that was chosen and its version. One that nobody chose is not asked; one that does not answer is told.
async fn server(connect: &ConnectArgs) -> Result<Option<(String, String)>, Failure> {
    if connect.choose()?.place.chosen == Chosen::Default {
        return Ok(None);
    }
    let fleet = connect.connect().await?;
    match fleet.client.metadata().await {
        Ok(metadata) => {
            let version = metadata["version"].as_str().unwrap_or("unknown");
            Ok(Some((fleet.place.to_string(), version.to_owned())))
        }
        Err(error) => {
            fleet.told(error).print();
            Ok(None)
        }
    }
}

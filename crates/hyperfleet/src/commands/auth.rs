//! `hyperfleet auth can-i`: asks the API, which alone knows.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use hyperfleet_client::{Auth, Client, ClientConfig, TokenFrom};
use serde_json::Value;

use crate::cli::CanIArgs;
use crate::output::{Format, printable};
use crate::wire::{encoded, headers};

const TOKEN: &str = "HYPERFLEET_TOKEN";

pub(crate) async fn can_i(args: CanIArgs) -> Result<ExitCode> {
    let client = Client::new(ClientConfig {
        auth: token(&args),
        default_headers: headers(&args.header)?,
        ..ClientConfig::new(&args.hyperfleet_api_base_url)
    })?;
    let (kind, id) = match args.resource.as_deref().map(|text| text.split_once('/')) {
        None => (None, None),
        Some(None) => (args.resource.as_deref(), None),
        Some(Some((kind, id))) => (Some(kind), Some(id)),
    };
    let mut query = vec![("verb", args.verb.as_str())];
    query.extend(kind.map(|kind| ("kind", kind)));
    query.extend(id.map(|id| ("id", id)));
    let url = format!("/can-i?{}", encoded(&query));
    let answer = client.get_json(&url).await?;
    let allowed = answer["allowed"] == true;
    match args.output {
        Format::Json => println!("{}", serde_json::to_string_pretty(&answer)?),
        Format::Yaml => print!("{}", serde_yaml_ng::to_string(&answer)?),
        Format::Text => {
            println!("{}", if allowed { "yes" } else { "no" });
            if let Value::String(reason) = &answer["reason"] {
                eprintln!("{}", printable(reason));
            }
        }
    }
    Ok(ExitCode::from(u8::from(!allowed)))
}

/// Never from the command line, which everybody on the machine can read.
fn token(args: &CanIArgs) -> Option<Auth> {
    let token = match &args.token_file {
        Some(path) => TokenFrom::File(path.clone()),
        None => std::env::var_os(TOKEN).map(|_| TokenFrom::Env(TOKEN.to_owned()))?,
    };
    Some(Auth {
        token,
        cache_ttl: Duration::ZERO,
    })
}

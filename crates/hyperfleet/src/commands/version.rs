//! `hyperfleet version`.

use anyhow::Result;
use serde_json::json;

use crate::build::{COMMIT, VERSION};
use crate::output::Format;

pub(crate) fn print(format: Format) -> Result<()> {
    match format {
        Format::Text => println!("hyperfleet {VERSION} ({COMMIT})"),
        Format::Json => println!("{}", json!({ "version": VERSION, "commit": COMMIT })),
        Format::Yaml => println!("version: {VERSION}\ncommit: {COMMIT}"),
    }
    Ok(())
}

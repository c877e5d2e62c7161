//! `hyperfleet api-resources`: which kinds there are, and what they are called.

use clap::Args;

use super::columns::non_empty;
use super::connect::ConnectArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::printer::data;
use crate::output::{Cell, Grid, Look};

#[derive(Debug, Args)]
pub(crate) struct ApiResourcesArgs {
    #[command(flatten)]
    connect: ConnectArgs,
}

pub(crate) async fn run(args: &ApiResourcesArgs) -> Result<Exit, Failure> {
    let fleet = args.connect.connect().await?;
    let rows: Vec<Vec<Cell>> = fleet
        .kinds()
        .await?
        .iter()
        .map(|kind| {
            let parent = match (&kind.parent_kind, &kind.on_parent_delete) {
                (Some(parent), Some(policy)) => format!("{parent} ({policy})"),
                (Some(parent), None) => parent.clone(),
                (None, _) => "-".to_owned(),
            };
            vec![
                Cell::new(&kind.plural),
                Cell::new(non_empty(&kind.short_names.join(","))),
                Cell::new(&kind.kind),
                Cell::new(parent),
                Cell::new(non_empty(&kind.required_adapters.join(","))),
            ]
        })
        .collect();
    let heads = ["NAME", "SHORTNAMES", "KIND", "PARENT", "REQUIRED ADAPTERS"];
    data(&Grid::new(heads, Look::of_stdout()).page(&rows))?;
    Ok(Exit::Done)
}

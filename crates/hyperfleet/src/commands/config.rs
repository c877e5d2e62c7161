//! `hyperfleet config print`.

use anyhow::{Result, bail};
use hyperfleet_runtime::config::Format as Printed;

use super::api;
use crate::cli::{ConfigPrintArgs, Role};
use crate::output::Format;

pub(crate) fn print(args: &ConfigPrintArgs) -> Result<()> {
    let format = match args.output {
        Format::Yaml => Printed::Yaml,
        Format::Json => Printed::Json,
        Format::Text => bail!("a configuration is printed as yaml or json"),
    };
    let file = args.config.clone();
    let text = match args.role {
        Role::Api => api::loader(file)
            .load::<hyperfleet_api::ApiConfig>()?
            .print(format)?,
        Role::Sentinel => super::sentinel::print(file, format)?,
        Role::Adapter => super::adapter::print(file, format)?,
        Role::Sweeper => super::sweeper::print(file, format)?,
    };
    println!("{}", text.trim_end());
    Ok(())
}

//! What each command does.

pub(crate) mod adapter;
mod api;
mod config;
mod language;
pub(crate) mod sentinel;
mod version;

use anyhow::{Context, Result};

use crate::cli::{
    AdapterCommand, ApiCommand, Cli, Command, ConfigCommand, ExprCommand, SentinelCommand,
    TemplateCommand,
};
use crate::up;

pub(crate) fn run(cli: Cli) -> Result<()> {
    match cli.command {
        Command::Version { output } => version::print(output),
        Command::Expr(ExprCommand::Eval { expression, data }) => {
            language::evaluate(&expression, data.as_deref())
        }
        Command::Template(TemplateCommand::Render { file, data }) => {
            language::render(&file, data.as_deref())
        }
        Command::Config(ConfigCommand::Print(args)) => config::print(&args),
        Command::Up(args) => serve(up::run(args)),
        Command::Api(ApiCommand::Serve(args)) => serve(api::serve(args)),
        Command::Api(ApiCommand::Migrate(args)) => serve(api::migrate(args)),
        Command::Sentinel(SentinelCommand::Serve(args)) => serve(sentinel::serve(args)),
        Command::Adapter(AdapterCommand::Serve(args)) => serve(adapter::serve(args)),
    }
}

fn serve(command: impl Future<Output = Result<()>>) -> Result<()> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the async runtime")?
        .block_on(command)
}

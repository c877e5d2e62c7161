//! What each command does.

pub(crate) mod adapter;
mod aggregation;
mod api;
mod config;
mod dead_letters;
mod language;
pub(crate) mod sentinel;
pub(crate) mod sweeper;
mod try_out;

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::cli::{
    AdapterCommand, AggregationCommand, ApiCommand, BrokerCommand, Cli, Command, ConfigCommand,
    ExprCommand, SentinelCommand, SweeperCommand, TemplateCommand,
};
use crate::{operator, reference, up};

/// Runs a command. An error is a failure to do it; a command that was done may still have bad news.
pub(crate) fn run(cli: Cli) -> Result<ExitCode> {
    let done = match cli.command {
        Command::Adapter(AdapterCommand::DryRun(args)) => return serve(try_out::dry_run(args)),
        Command::Adapter(AdapterCommand::Validate(args)) => try_out::validate(&args),
        Command::Adapter(AdapterCommand::Serve(args)) => match args.or_dry_run() {
            Ok(args) => serve(adapter::serve(args)),
            Err(args) => return serve(try_out::dry_run(*args)),
        },
        Command::Adapter(AdapterCommand::ConfigDump(args)) => adapter::dump(&args),
        Command::Adapter(AdapterCommand::Schema(args)) => adapter::schema(&args),
        Command::Aggregation(AggregationCommand::Validate(args)) => {
            return aggregation::validate(&args);
        }
        Command::Auth(command) => return Ok(operator::auth(&command)),
        Command::Broker(BrokerCommand::DeadLetters(command)) => serve(dead_letters::run(command)),
        Command::Operate(verb) => return Ok(operator::run(&verb)),
        Command::Expr(ExprCommand::Eval { expression, data }) => {
            language::evaluate(&expression, data.as_deref())
        }
        Command::Template(TemplateCommand::Render { file, data }) => {
            language::render(&file, data.as_deref())
        }
        Command::Config(ConfigCommand::Print(args)) => config::print(&args),
        Command::Config(ConfigCommand::Context(command)) => {
            return Ok(operator::contexts(&command));
        }
        Command::Reference(args) => reference::write(&args),
        Command::Up(args) => serve(up::run(args)),
        Command::Api(ApiCommand::Serve(args)) => serve(api::serve(args)),
        Command::Api(ApiCommand::Migrate(args)) => serve(api::migrate(args)),
        Command::Sentinel(SentinelCommand::Serve(args)) => serve(sentinel::serve(args)),
        Command::Sentinel(SentinelCommand::Why(args)) => serve(sentinel::why::run(args)),
        Command::Sweeper(SweeperCommand::Run(args)) => return serve(sweeper::run(args)),
        Command::Sweeper(SweeperCommand::Serve(args)) => serve(sweeper::serve(args)),
    };
    done.map(|()| ExitCode::SUCCESS)
}

fn serve<T>(command: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the async runtime")?
        .block_on(command)
}

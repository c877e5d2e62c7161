//! What an operator does with a fleet from a terminal, in the ways of kubectl.
//!
//! ```text
//!   flags, HYPERFLEET_SERVER, contexts ──connect──► Fleet (client, kinds of the server)
//!                                                     │ KIND/NAME, -l, --search
//!                            get describe wait why … ◄┤
//!                            create apply delete …   ◄┘──► stdout: data; stderr: everything else; exit code: what it came to
//! ```
//!
//! These commands start quickly: one thread, no certificates unless the server is reached by TLS, no logging.

mod api_resources;
mod apply;
mod asked;
mod auth;
mod change;
mod columns;
mod completion;
mod connect;
pub(crate) mod context_commands;
pub(crate) mod contexts;
mod delete;
mod describe;
mod dry_run;
mod exit;
mod explain;
mod failure;
mod fleet;
mod follow;
mod get;
mod goal;
mod history;
mod intent;
mod jsonpath;
mod kinds;
mod manifest;
mod parents;
mod place;
mod printer;
mod progress;
mod report;
mod reports;
mod selector;
mod shape;
mod token;
mod top;
mod version;
mod wait;
mod walk;
mod why;

use std::process::ExitCode;

use clap::Subcommand;

pub(crate) use auth::AuthCommand;
pub(crate) use completion::answer as answer_shell;
use context_commands::ContextCommand;
use exit::Exit;
use failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List resources, or show some of them; -w stays and prints every change
    #[command(visible_alias = "list")]
    Get(get::GetArgs),
    /// Show everything about a resource
    Describe(describe::DescribeArgs),
    /// Create resources, from a file or by name
    Create(apply::CreateArgs),
    /// Bring about what files want: create what is not there, change what is other
    Apply(apply::ApplyArgs),
    /// Show what `apply` would change; the exit code is 1 if there is anything
    Diff(apply::DiffArgs),
    /// Change a resource in an editor
    Edit(change::EditArgs),
    /// Change a part of a resource
    Patch(change::PatchArgs),
    /// Set and remove labels
    Label(change::LabelArgs),
    /// Delete resources: adapters clean up, then they are gone
    Delete(delete::DeleteArgs),
    /// Remove resources without waiting for adapters
    ForceDelete(delete::ForceDeleteArgs),
    /// Wait until resources are as they should be
    Wait(wait::WaitArgs),
    /// Say why a resource is as it is: what is wanted, who holds it up, when it is looked at next
    Why(why::WhyArgs),
    /// Show how the fleet is in numbers, and what has been stuck for longest
    Top(top::TopArgs),
    /// Report a status by hand
    Report(report::ReportArgs),
    /// Show what each adapter last said about a resource
    #[command(visible_alias = "status")]
    Statuses(reports::StatusesArgs),
    /// Show what happened to a resource: who changed it, which report changed which condition
    History(history::HistoryArgs),
    /// Show who did what in the fleet
    #[command(visible_alias = "events")]
    Audit(history::AuditArgs),
    /// List the kinds the server has
    ApiResources(api_resources::ApiResourcesArgs),
    /// Show what a kind or one of its fields is
    Explain(explain::ExplainArgs),
    /// Log in to the issuer of the context
    Login(context_commands::LoginArgs),
    /// Forget the login of the context
    Logout(context_commands::LoginArgs),
    /// Print what makes a shell complete commands, kinds and names
    Completion(completion::CompletionArgs),
    /// Print the version of this program and of the server
    Version(version::VersionArgs),
}

/// Does what was asked for; the exit code says what it came to.
pub(crate) fn run(verb: &Verb) -> ExitCode {
    ended(await_for(dispatch(verb)))
}

/// Asks who may do what.
pub(crate) fn auth(command: &AuthCommand) -> ExitCode {
    ended(await_for(auth::run(command)))
}

fn await_for(command: impl Future<Output = Result<Exit, Failure>>) -> Result<Exit, Failure> {
    // One thread: a second one would take longer to start than most commands take.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    match runtime {
        Ok(runtime) => runtime.block_on(command),
        Err(error) => Err(Failure::new(
            Exit::Failed,
            format!("cannot start the async runtime: {error}"),
        )),
    }
}

/// Looks at contexts or changes them.
pub(crate) fn contexts(command: &ContextCommand) -> ExitCode {
    ended(context_commands::run(command))
}

/// What exit codes mean, for the reference.
pub(crate) fn exit_codes() -> impl Iterator<Item = (u8, &'static str)> {
    Exit::ALL
        .into_iter()
        .map(|exit| (exit.code(), exit.meaning()))
}

fn ended(outcome: Result<Exit, Failure>) -> ExitCode {
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print();
            failure.exit.into()
        }
    }
}

async fn dispatch(verb: &Verb) -> Result<Exit, Failure> {
    match verb {
        Verb::Get(args) => get::run(args).await,
        Verb::Describe(args) => describe::run(args).await,
        Verb::Create(args) => apply::create(args).await,
        Verb::Apply(args) => apply::apply(args).await,
        Verb::Diff(args) => apply::diff(args).await,
        Verb::Edit(args) => change::edit(args).await,
        Verb::Patch(args) => change::patch(args).await,
        Verb::Label(args) => change::label(args).await,
        Verb::Delete(args) => delete::run(args).await,
        Verb::ForceDelete(args) => delete::force(args).await,
        Verb::Wait(args) => wait::run(args).await,
        Verb::Why(args) => why::run(args).await,
        Verb::Top(args) => top::run(args).await,
        Verb::Report(args) => report::run(args).await,
        Verb::Statuses(args) => reports::run(args).await,
        Verb::History(args) => history::run(args).await,
        Verb::Audit(args) => history::audit(args).await,
        Verb::ApiResources(args) => api_resources::run(args).await,
        Verb::Explain(args) => explain::run(args).await,
        Verb::Login(args) => context_commands::login(args).await,
        Verb::Logout(args) => context_commands::logout(args),
        Verb::Completion(args) => completion::run(args),
        Verb::Version(args) => version::run(args).await,
    }
}

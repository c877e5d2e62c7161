//! `hyperfleet completion`, and what a shell is told when somebody presses Tab: kinds, names and contexts as they are.

use std::ffi::OsStr;
use std::time::Duration;

use clap::{Args, CommandFactory};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use hyperfleet_client::ListQuery;
use hyperfleet_runtime::GoDuration;
use hyperfleet_source::suggest;

use super::connect::ConnectArgs;
use super::contexts::Contexts;
use super::exit::Exit;
use super::failure::Failure;
use super::fleet::{Fleet, quoted};
use super::printer::data;

/// Nobody waits longer for a Tab.
const PATIENCE: Duration = Duration::from_secs(2);
/// As many names as anybody reads.
const NAMES: u32 = 100;
/// What makes a shell's script ask us instead of running us.
const VARIABLE: &str = "COMPLETE";

#[derive(Debug, Args)]
pub(crate) struct CompletionArgs {
    /// bash, zsh, fish, elvish or powershell
    shell: String,
}

/// Prints what a shell must read once: `source <(hyperfleet completion bash)`.
pub(crate) fn run(args: &CompletionArgs) -> Result<Exit, Failure> {
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(&args.shell) else {
        let failure = Failure::usage(format!("there is no completion for `{}`", args.shell));
        return Err(
            match suggest::help(&args.shell, shells.names().collect::<Vec<_>>()) {
                Some(help) => failure.hint(help),
                None => failure,
            },
        );
    };
    let mut script = Vec::new();
    shell.write_registration(
        VARIABLE,
        "hyperfleet",
        "hyperfleet",
        "hyperfleet",
        &mut script,
    )?;
    data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

/// Answers a shell and ends the process, if it is a shell that asks.
pub(crate) fn answer() {
    CompleteEnv::with_factory(crate::cli::Cli::command)
        .var(VARIABLE)
        .complete();
}

/// Kinds, `KIND/NAME`, and names behind a kind.
pub(crate) fn things() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| ask(current, Wanted::Things))
}

pub(crate) fn kinds() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| ask(current, Wanted::Kinds))
}

pub(crate) fn contexts() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let current = current.to_string_lossy();
        let contexts = Contexts::load().unwrap_or_default().contexts;
        let names = contexts.into_iter().map(|context| context.name);
        let fitting = names.filter(|name| name.starts_with(&*current));
        fitting.map(CompletionCandidate::new).collect()
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Kinds,
    Things,
}

/// What the server has that begins so; nothing if it does not answer soon.
fn ask(current: &OsStr, wanted: Wanted) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy().into_owned();
    let words: Vec<String> = std::env::args().skip_while(|word| word != "--").collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else {
        return Vec::new();
    };
    let found = runtime.block_on(async {
        let found = candidates(&current, &words, wanted);
        match tokio::time::timeout(PATIENCE, found).await {
            Ok(Ok(found)) => found,
            _ => Vec::new(),
        }
    });
    found
        .into_iter()
        .filter(|candidate| candidate.starts_with(&current))
        .map(CompletionCandidate::new)
        .collect()
}

async fn candidates(
    current: &str,
    words: &[String],
    wanted: Wanted,
) -> Result<Vec<String>, Failure> {
    let flag = |name: &str| {
        let with = format!("{name}=");
        let joined = words.iter().find_map(|word| word.strip_prefix(&with));
        let next = words.windows(2).find(|pair| pair[0] == name);
        let found = joined.or_else(|| next.map(|pair| pair[1].as_str()));
        found.map(str::to_owned)
    };
    let variable = |name: &str| std::env::var(name).ok();
    let connect = ConnectArgs {
        server: flag("--server").or_else(|| variable("HYPERFLEET_SERVER")),
        context: flag("--context").or_else(|| variable("HYPERFLEET_CONTEXT")),
        header: Vec::new(),
        request_timeout: GoDuration::from(PATIENCE),
    };
    let fleet = connect.connect().await?;
    if wanted == Wanted::Things {
        if let Some((kind, start)) = current.split_once('/') {
            let names = names(&fleet, kind, start).await?;
            return Ok(names.iter().map(|name| format!("{kind}/{name}")).collect());
        }
        // A word before that is a kind, and this is a name of it.
        for word in words.iter().rev().filter(|word| *word != current) {
            if let Ok(kind) = fleet.kind(word).await {
                return names(&fleet, &kind.plural, current).await;
            }
        }
    }
    let kinds = fleet.kinds().await?.iter();
    Ok(kinds
        .flat_map(|kind| {
            let slash = match wanted {
                Wanted::Things => Some(format!("{}/", kind.singular)),
                Wanted::Kinds => None,
            };
            [kind.plural.clone()].into_iter().chain(slash)
        })
        .collect())
}

async fn names(fleet: &Fleet, kind: &str, start: &str) -> Result<Vec<String>, Failure> {
    let kind = fleet.kind(kind).await?;
    let pattern = start
        .replace('\\', "\\\\")
        .replace('%', "\\%")
        .replace('_', "\\_")
        + "%";
    let query = ListQuery {
        search: Some(format!("name LIKE {}", quoted(&pattern))),
        size: Some(NAMES),
        fields: Some("name".to_owned()),
        order: Some("name".to_owned()),
        ..ListQuery::default()
    };
    let page = fleet.client.list(&kind.plural, &query).await;
    let page = page.map_err(|error| fleet.told(error))?;
    Ok(page.items.into_iter().map(|one| one.name).collect())
}

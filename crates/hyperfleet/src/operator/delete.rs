//! `hyperfleet delete` and `hyperfleet force-delete`: what goes, and what goes or stays with it.

mod family;

use clap::Args;
use hyperfleet_client::{Follow, RemoteResource};
use hyperfleet_core::effect::Effect;

use super::asked::Asked;
use super::connect::ConnectArgs;
use super::dry_run::{DryRun, DryRunArgs};
use super::exit::Exit;
use super::failure::Failure;
use super::fleet::{Fleet, called};
use super::goal::Goal;
use super::kinds::KindInfo;
use super::printer::data;
use super::selector;
use super::wait::{PatienceArgs, until};
use super::walk::Walk;
use crate::output::{Answer, confirm};
use family::Family;

/// So many are named in a question; the rest is counted.
const NAMED: usize = 10;

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// KIND/NAME…, KIND NAME…, or a kind with -l or --all
    #[arg(value_name = "WHAT", required = true, add = super::completion::things())]
    what: Vec<String>,
    /// Those of a kind with these labels
    #[arg(short = 'l', long, value_name = "LABELS", conflicts_with = "all")]
    selector: Option<String>,
    /// All of a kind
    #[arg(long)]
    all: bool,
    /// Among the children of this parent
    #[arg(short, long, value_name = "PARENT")]
    parent: Option<String>,
    /// Delete children first where they would refuse the deletion of their parent
    #[arg(long)]
    cascade: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    dry_run: DryRunArgs,
    #[command(flatten)]
    patience: PatienceArgs,
    #[command(flatten)]
    connect: ConnectArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ForceDeleteArgs {
    /// KIND/NAME…, or KIND NAME…
    #[arg(value_name = "WHAT", required = true, add = super::completion::things())]
    what: Vec<String>,
    /// Why, for the audit log
    #[arg(long, value_name = "WHY")]
    reason: String,
    /// Among the children of this parent
    #[arg(short, long, value_name = "PARENT")]
    parent: Option<String>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    dry_run: DryRunArgs,
    #[command(flatten)]
    connect: ConnectArgs,
}

pub(crate) async fn run(args: &DeleteArgs) -> Result<Exit, Failure> {
    let fleet = args.connect.connect().await?;
    let found = targets(args, &fleet).await?;
    if found.is_empty() {
        eprintln!("nothing to delete");
        return Ok(Exit::Done);
    }
    let mut families = Vec::new();
    for (kind, resource) in &found {
        families.push(Family::of(&fleet, kind, resource).await?);
    }
    if !args.cascade
        && let Some(refusing) = families.iter().find_map(Family::refusing)
    {
        return Err(
            Failure::new(Exit::Conflict, refusing).hint("--cascade deletes the children first")
        );
    }
    let dry_run = args.dry_run.dry_run;
    if dry_run != DryRun::None {
        foretell(&families);
    } else if !args.yes {
        agree("Delete", &found, &families)?;
    }
    let how = Way {
        dry_run,
        effect: dry_run.effect(&fleet).await?,
    };
    for (family, (kind, resource)) in families.iter().zip(&found) {
        let mut first = family.to_delete_first().filter(|_| args.cascade).peekable();
        if dry_run == DryRun::Server && first.peek().is_some() {
            return Err(Failure::usage(format!(
                "{} has children that go before it, and the server tries one deletion at a time",
                called(resource)
            ))
            .hint("--dry-run=client says what --cascade would delete"));
        }
        for (kind, child) in first {
            ask_for(&fleet, kind, child, how).await?;
        }
        ask_for(&fleet, kind, resource, how).await?;
    }
    match args.patience.wait && dry_run == DryRun::None {
        true => until(&fleet, &found, &Goal::Gone, args.patience.timeout).await,
        false => Ok(Exit::Done),
    }
}

/// Whether it is done, or who tries it.
#[derive(Debug, Clone, Copy)]
struct Way {
    dry_run: DryRun,
    effect: Option<Effect>,
}

async fn ask_for(
    fleet: &Fleet,
    kind: &KindInfo,
    resource: &RemoteResource,
    way: Way,
) -> Result<(), Failure> {
    let name = called(resource);
    let done = format!("{name} deletion asked for{}\n", way.dry_run.note());
    let Some(effect) = way.effect else {
        return data(&done);
    };
    let deleted = fleet.client.delete(&kind.plural, &resource.id, effect);
    deleted.await.map_err(|error| {
        let failure = fleet
            .told(error)
            .while_doing(format!("cannot delete {name}"));
        match failure.exit {
            Exit::Conflict => {
                failure.hint(format!("hyperfleet describe {name} shows its children"))
            }
            _ => failure,
        }
    })?;
    data(&done)
}

async fn targets<'f>(
    args: &DeleteArgs,
    fleet: &'f Fleet,
) -> Result<Vec<(&'f KindInfo, RemoteResource)>, Failure> {
    let kinds = match Asked::read(&args.what)? {
        Asked::Named(_) if args.all || args.selector.is_some() => {
            return Err(Failure::usage("either names, or -l, or --all"));
        }
        Asked::Named(_) => {
            return Asked::resources(&args.what, fleet, args.parent.as_deref()).await;
        }
        Asked::Kinds(_) if !args.all && args.selector.is_none() => {
            return Err(Failure::usage("say which: names, -l, or --all"));
        }
        Asked::Kinds(kinds) => kinds,
    };
    let mut found = Vec::new();
    for kind in &kinds {
        let kind = fleet.kind(kind).await?;
        let parent = fleet.parent_for(kind, args.parent.as_deref()).await?;
        let mut terms = vec!["deleted_time IS NULL".to_owned()];
        if let Some(parent) = parent {
            terms.push(format!("owner_id = {}", super::fleet::quoted(&parent.id)));
        }
        if let Some(selector) = &args.selector {
            terms.push(selector::to_search(selector).map_err(Failure::usage)?);
        }
        let follow = Follow {
            plural: kind.plural.clone(),
            search: Some(terms.join(" AND ")),
            ..Follow::default()
        };
        let mut walk = Walk::new(fleet, &follow);
        while let Some(items) = walk.next().await? {
            for item in items {
                found.push((fleet.kind_of(&item).await?, item));
            }
        }
    }
    Ok(found)
}

/// Says what will be affected besides.
fn foretell(families: &[Family<'_>]) {
    for line in families.iter().flat_map(Family::consequences) {
        eprintln!("{line}");
    }
}

/// Says what will be affected, and asks.
fn agree(
    verb: &str,
    found: &[(&KindInfo, RemoteResource)],
    families: &[Family<'_>],
) -> Result<(), Failure> {
    let names: Vec<String> = found
        .iter()
        .take(NAMED)
        .map(|(_, one)| called(one))
        .collect();
    let more = match found.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let what = format!("{}{more}", names.join(", "));
    foretell(families);
    match confirm(&format!("{verb} {what}?"))? {
        Answer::Yes => Ok(()),
        Answer::No => Err(Failure::new(Exit::Failed, "nothing was deleted")),
        Answer::NobodyThere => Err(Failure::usage(format!(
            "this deletes {what}, and nobody is there to ask: say so with --yes"
        ))),
    }
}

pub(crate) async fn force(args: &ForceDeleteArgs) -> Result<Exit, Failure> {
    let fleet = args.connect.connect().await?;
    let found = Asked::resources(&args.what, &fleet, args.parent.as_deref()).await?;
    let mut families = Vec::new();
    for (kind, resource) in &found {
        families.push(Family::of(&fleet, kind, resource).await?);
    }
    let dry_run = args.dry_run.dry_run;
    if dry_run != DryRun::None {
        foretell(&families);
    } else if !args.yes {
        eprintln!("Nothing waits for adapters: what they made may be left behind for the sweeper.");
        agree("Remove at once", &found, &families)?;
    }
    let effect = dry_run.effect(&fleet).await?;
    for (kind, resource) in &found {
        let name = called(resource);
        let removed = match effect {
            None => Ok(()),
            Some(effect) => {
                fleet
                    .client
                    .force_delete(&kind.plural, &resource.id, &args.reason, effect)
                    .await
            }
        };
        removed.map_err(|error| {
            let failure = fleet
                .told(error)
                .while_doing(format!("cannot remove {name}"));
            match resource.is_deleting() {
                true => failure,
                false => failure.hint(format!(
                    "ask for its deletion first: hyperfleet delete {name}"
                )),
            }
        })?;
        data(&format!("{name} removed{}\n", dry_run.note()))?;
    }
    Ok(Exit::Done)
}

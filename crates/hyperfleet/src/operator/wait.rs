//! `hyperfleet wait`, and the `--wait` of commands that change something.

use std::time::Duration;

use clap::Args;
use hyperfleet_client::RemoteResource;
use hyperfleet_runtime::GoDuration;
use tokio::time::Instant;

use super::asked::Asked;
use super::connect::ConnectArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::fleet::Fleet;
use super::goal::Goal;
use super::kinds::KindInfo;
use super::progress::Wait;

#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    /// KIND/NAME…, or KIND NAME…
    #[arg(value_name = "WHAT", required = true, add = super::completion::things())]
    what: Vec<String>,
    /// What for: phase=Ready, condition=TYPE, condition=TYPE=STATUS, or delete
    #[arg(long = "for", value_name = "GOAL", default_value = "phase=Ready")]
    goal: Goal,
    /// How long at most, for all of them together; 0 waits for ever
    #[arg(long, value_name = "DURATION", default_value = "5m")]
    timeout: GoDuration,
    /// Among the children of this parent
    #[arg(short, long, value_name = "PARENT")]
    parent: Option<String>,
    #[command(flatten)]
    connect: ConnectArgs,
}

/// For commands that can wait for what they began.
#[derive(Debug, Args)]
pub(crate) struct PatienceArgs {
    /// Stay until it is done, and show how far it is
    #[arg(long)]
    pub(crate) wait: bool,
    /// With --wait: how long at most; 0 waits for ever
    #[arg(long, value_name = "DURATION", default_value = "5m", requires = "wait")]
    pub(crate) timeout: GoDuration,
}

pub(crate) async fn run(args: &WaitArgs) -> Result<Exit, Failure> {
    let fleet = args.connect.connect().await?;
    let found = match Asked::resources(&args.what, &fleet, args.parent.as_deref()).await {
        // What is not there is gone, if that is what one waits for.
        Err(failure) if failure.exit == Exit::NotFound && args.goal == Goal::Gone => {
            eprintln!("{}", failure.message());
            return Ok(Exit::Done);
        }
        found => found?,
    };
    until(&fleet, &found, &args.goal, args.timeout).await
}

/// Waits for one after the other; the first that does not get there ends it.
pub(crate) async fn until(
    fleet: &Fleet,
    resources: &[(&KindInfo, RemoteResource)],
    goal: &Goal,
    timeout: GoDuration,
) -> Result<Exit, Failure> {
    let timeout = Duration::from(timeout);
    let deadline = (!timeout.is_zero()).then(|| Instant::now() + timeout);
    for (kind, resource) in resources {
        let wait = Wait {
            fleet,
            kind,
            goal,
            deadline,
        };
        match wait.run(resource).await? {
            Exit::Done => {}
            other => return Ok(other),
        }
    }
    Ok(Exit::Done)
}

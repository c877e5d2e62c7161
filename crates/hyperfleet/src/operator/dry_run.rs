//! `--dry-run`: who tries a change before anybody makes it.

use clap::{Args, ValueEnum};
use hyperfleet_core::effect::Effect;

use super::exit::Exit;
use super::failure::Failure;
use super::fleet::Fleet;

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct DryRunArgs {
    /// Say what would be done, and do nothing; with `server` the server checks everything as if it were done
    #[arg(long, value_enum, value_name = "WHERE", default_value = "none", default_missing_value = "client", num_args = 0..=1, require_equals = true)]
    pub(crate) dry_run: DryRun,
}

/// Who tries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DryRun {
    /// Nobody: it is done.
    None,
    /// This program: reads the files and what is there, and compares.
    Client,
    /// The server: checks and answers as if it were done, and forgets it.
    Server,
}

impl DryRun {
    /// What is asked of the server; nothing where this program tries it.
    ///
    /// A server that does not know dry runs would ignore the word and do it, so it is asked before anything is sent.
    pub(crate) async fn effect(self, fleet: &Fleet) -> Result<Option<Effect>, Failure> {
        match self {
            DryRun::None => Ok(Some(Effect::Lasting)),
            DryRun::Client => Ok(None),
            DryRun::Server => {
                let can = fleet.client.can_rehearse().await;
                match can.map_err(|error| fleet.told(error))? {
                    true => Ok(Some(Effect::Rehearsed)),
                    false => Err(Failure::new(
                        Exit::Usage,
                        "this server cannot try changes without making them",
                    )
                    .hint("--dry-run=client compares with what is there")),
                }
            }
        }
    }

    /// What follows the words that say what was done.
    pub(crate) fn note(self) -> &'static str {
        match self {
            DryRun::None => "",
            DryRun::Client => " (dry run)",
            DryRun::Server => " (server dry run)",
        }
    }
}

//! What the exit code says to a script.

use std::process::ExitCode;

/// How a command ended. `docs/cli.md` lists them; they do not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    /// Something else went wrong; of `diff`, that there are differences.
    Failed,
    /// The command line is wrong, as the parser says too.
    Usage,
    NotFound,
    /// The state of things does not allow it, or somebody was quicker.
    Conflict,
    /// The server wants to know who asks, or does not let them.
    Denied,
    TimedOut,
    /// The server understood and refused what was sent.
    Invalid,
    Unreachable,
    Interrupted,
}

impl Exit {
    pub(crate) const ALL: [Exit; 10] = [
        Exit::Done,
        Exit::Failed,
        Exit::Usage,
        Exit::NotFound,
        Exit::Conflict,
        Exit::Denied,
        Exit::TimedOut,
        Exit::Invalid,
        Exit::Unreachable,
        Exit::Interrupted,
    ];

    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::NotFound => 3,
            Exit::Conflict => 4,
            Exit::Denied => 5,
            Exit::TimedOut => 6,
            Exit::Invalid => 7,
            Exit::Unreachable => 8,
            Exit::Interrupted => 130,
        }
    }

    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Exit::Done => "done",
            Exit::Failed => "failed for another reason; of `diff`: there are differences",
            Exit::Usage => "the command line, or a file it names, is wrong",
            Exit::NotFound => "there is no such resource",
            Exit::Conflict => {
                "the name is taken, the state does not allow it, or somebody was quicker"
            }
            Exit::Denied => "no token, one that is not taken, or not allowed",
            Exit::TimedOut => "it did not happen in time",
            Exit::Invalid => "the server refused what was sent",
            Exit::Unreachable => "the server cannot be reached, or is not well",
            Exit::Interrupted => "stopped with Ctrl-C",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

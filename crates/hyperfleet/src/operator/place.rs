//! Which server is asked, and how it was chosen: what a hint about a failure must know.

use std::fmt;

/// A server, and who named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) server: String,
    pub(crate) chosen: Chosen,
    /// Whether its context says where a token comes from.
    pub(crate) token: TokenKnown,
}

/// How a server was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// `--server` or `HYPERFLEET_SERVER`.
    Named,
    /// The context of this name.
    Context(String),
    /// Nothing is configured: the one `hyperfleet up` listens on.
    Default,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKnown {
    None,
    /// One that people get by logging in.
    Login,
    Other,
}

impl Place {
    pub(crate) fn how_to_reach(&self) -> String {
        match &self.chosen {
            Chosen::Named => "is it running, and is the address right?".to_owned(),
            Chosen::Context(name) => format!(
                "that is the server of the context `{name}`; is it running, or is another one meant? \
                 `hyperfleet config get-contexts` lists them"
            ),
            Chosen::Default => "no context is configured: start a system here with `hyperfleet up`, name a server \
                                with --server, or add a context with `hyperfleet config set-context`"
                .to_owned(),
        }
    }

    pub(crate) fn how_to_get_a_token(&self) -> String {
        match (self.token, &self.chosen) {
            (TokenKnown::Login, _) => "log in with `hyperfleet login`".to_owned(),
            (TokenKnown::Other, _) => {
                "the token may have expired: get a new one where it comes from".to_owned()
            }
            (TokenKnown::None, Chosen::Context(name)) => format!(
                "the context `{name}` has no token: set HYPERFLEET_TOKEN, or one of the --token-… flags of \
                 `hyperfleet config set-context {name}`"
            ),
            (TokenKnown::None, _) => {
                "set HYPERFLEET_TOKEN, or use a context that says where the token comes from"
                    .to_owned()
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.server)
    }
}

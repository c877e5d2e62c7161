//! From flags, environment and contexts to a server one can talk to.

use std::time::Duration;

use clap::Args;
use hyperfleet_client::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use hyperfleet_client::{Auth, Backoff, Client, ClientConfig, Retry, TokenFrom, Trust};
use hyperfleet_runtime::GoDuration;

use super::contexts::{Context, Contexts, TokenSource};
use super::exit::Exit;
use super::failure::Failure;
use super::fleet::Fleet;
use super::place::{Chosen, Place, TokenKnown};
use super::token;
use crate::wire;

/// Where `hyperfleet up` listens.
const DEFAULT_SERVER: &str = "http://localhost:8000";
/// Wins over every other source of a token.
const TOKEN_VARIABLE: &str = "HYPERFLEET_TOKEN";

/// Somebody waits: soon once more, and then say so.
const RETRY: Retry = Retry {
    attempts: 3,
    backoff: Backoff::Exponential,
    base_delay: Duration::from_millis(150),
    max_delay: Duration::from_secs(2),
};

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectArgs {
    /// Where the API is, instead of the server of the context
    #[arg(long, value_name = "URL", env = "HYPERFLEET_SERVER")]
    pub(crate) server: Option<String>,
    /// The context to use instead of the current one
    #[arg(long, value_name = "NAME", env = "HYPERFLEET_CONTEXT", add = super::completion::contexts())]
    pub(crate) context: Option<String>,
    /// A header to send, for example `X-HyperFleet-Org: acme`; may be repeated
    #[arg(long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// How long one request may take
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    pub(crate) request_timeout: GoDuration,
}

/// The server that is meant, and what is known about it. Nothing is sent.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) place: Place,
    pub(crate) token: Option<TokenSource>,
    /// Tokens of a login are kept under the name of their context.
    pub(crate) context: Option<Context>,
}

impl ConnectArgs {
    pub(crate) fn choose(&self) -> Result<Choice, Failure> {
        let contexts = Contexts::load()?;
        let named = self.context.as_deref().filter(|name| !name.is_empty());
        let context = match named {
            Some(name) => Some(contexts.get(name)?),
            None => contexts.current()?,
        };
        let server = self.server.as_deref().filter(|server| !server.is_empty());
        let (server, chosen, context) = match (server, context) {
            // The token of the current context is not for another server, unless both were named together.
            (Some(server), context) => {
                let context = context.filter(|_| named.is_some());
                (server.to_owned(), Chosen::Named, context)
            }
            (None, Some(context)) => (
                context.server.clone(),
                Chosen::Context(context.name.clone()),
                Some(context),
            ),
            (None, None) => (DEFAULT_SERVER.to_owned(), Chosen::Default, None),
        };
        let variable = std::env::var_os(TOKEN_VARIABLE).filter(|token| !token.is_empty());
        let token = match variable {
            Some(_) => Some(TokenSource::Env(TOKEN_VARIABLE.to_owned())),
            None => context.and_then(|context| context.token.clone()),
        };
        let known = match &token {
            None => TokenKnown::None,
            Some(TokenSource::Oidc(_)) => TokenKnown::Login,
            Some(_) => TokenKnown::Other,
        };
        Ok(Choice {
            place: Place {
                server,
                chosen,
                token: known,
            },
            token,
            context: context.cloned(),
        })
    }

    /// Those of the context, and what was written instead or besides.
    fn headers(&self, context: Option<&Context>) -> Result<HeaderMap, Failure> {
        let of_context = context
            .map(|context| &context.headers)
            .into_iter()
            .flatten();
        let of_context: Vec<String> = of_context
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        let read = |written: &[String]| {
            wire::headers(written).map_err(|error| Failure::usage(error.to_string()))
        };
        let mut headers = read(&of_context)?;
        headers.extend(read(&self.header)?);
        Ok(headers)
    }

    /// A client of the server that is meant. Nothing is sent to it yet.
    pub(crate) async fn connect(&self) -> Result<Fleet, Failure> {
        self.connect_with(None).await
    }

    /// The same with a token of one's own.
    pub(crate) async fn connect_with(&self, token: Option<TokenSource>) -> Result<Fleet, Failure> {
        let choice = self.choose()?;
        let (place, context) = (choice.place, choice.context);
        let token = token.or(choice.token);
        let mut config = ClientConfig {
            default_headers: self.headers(context.as_ref())?,
            timeout: self.request_timeout.into(),
            retry: RETRY,
            trust: trust(&place.server),
            ..ClientConfig::new(&place.server)
        };
        match &token {
            None => {}
            Some(TokenSource::File(path)) => {
                config.auth = Some(read(TokenFrom::File(path.clone())))
            }
            Some(TokenSource::Env(name)) => config.auth = Some(read(TokenFrom::Env(name.clone()))),
            Some(TokenSource::Exec(command)) => {
                let token = token::from_program(command).await?;
                config.default_headers.extend(bearer(&token)?);
            }
            Some(TokenSource::Oidc(oidc)) => {
                let name = context.as_ref().map_or("", |context| &context.name);
                let token = token::from_login(name, oidc, &place).await?;
                config.default_headers.extend(bearer(&token)?);
            }
        }
        let client = Client::new(config).map_err(|error| Failure::usage(error.to_string()))?;
        let parent = context.and_then(|context| context.parent);
        Ok(Fleet::new(client, place, parent, self.clone()))
    }
}

/// Certificates are read only where they are needed: it takes longer than the rest of a command.
pub(crate) fn trust(server: &str) -> Trust {
    match server
        .trim_start()
        .to_ascii_lowercase()
        .starts_with("http:")
    {
        true => Trust::Nobody,
        false => Trust::System,
    }
}

fn read(token: TokenFrom) -> Auth {
    Auth {
        token,
        cache_ttl: Duration::from_secs(30),
    }
}

fn bearer(token: &str) -> Result<HeaderMap, Failure> {
    let mut value = HeaderValue::try_from(format!("Bearer {}", token.trim())).map_err(|_| {
        Failure::new(
            Exit::Denied,
            "the token has characters that no header can have",
        )
    })?;
    value.set_sensitive(true);
    Ok(HeaderMap::from_iter([(AUTHORIZATION, value)]))
}

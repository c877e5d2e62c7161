//! `hyperfleet config …-context…`: looking at contexts and changing them. `login` and `logout` too.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::connect::ConnectArgs;
use super::contexts::{Context, Contexts, Oidc, TokenSource, default_scopes};
use super::exit::Exit;
use super::failure::Failure;
use super::printer::data;
use super::token;
use crate::output::{Cell, Grid, Look, Tone};
use crate::wire;

#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    /// List the contexts
    GetContexts,
    /// Print the name of the current context
    CurrentContext,
    /// Make a context the current one
    UseContext {
        #[arg(add = super::completion::contexts())]
        name: String,
    },
    /// Add a context, or change one
    SetContext(Box<SetContextArgs>),
    /// Remove a context
    DeleteContext {
        #[arg(add = super::completion::contexts())]
        name: String,
    },
    /// Print the file that contexts are kept in
    View,
}

#[derive(Debug, Args)]
pub(crate) struct SetContextArgs {
    #[arg(add = super::completion::contexts())]
    name: String,
    /// Where the API is, for example http://localhost:8000
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Whose children are meant when nothing is said, for example cluster/production-1; empty for nobody's
    #[arg(long, value_name = "KIND/NAME")]
    parent: Option<String>,
    /// Send this header with every request, for example `X-HyperFleet-Org: acme`; may be repeated. `NAME:` takes one out
    #[arg(long, value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// Read the token from this file
    #[arg(long, value_name = "FILE", group = "token")]
    token_file: Option<PathBuf>,
    /// Read the token from this environment variable
    #[arg(long, value_name = "VARIABLE", group = "token")]
    token_env: Option<String>,
    /// Run this program for the token: it prints it, or kubectl's ExecCredential
    #[arg(long, value_name = "COMMAND", group = "token", num_args = 1.., value_terminator = ";", allow_hyphen_values = true)]
    token_exec: Option<Vec<String>>,
    /// Log in at this OpenID Connect issuer, with `hyperfleet login`
    #[arg(long, value_name = "URL", group = "token", requires = "oidc_client_id")]
    oidc_issuer: Option<String>,
    /// The client that is registered there
    #[arg(long, value_name = "ID", requires = "oidc_issuer")]
    oidc_client_id: Option<String>,
    /// What to ask for there
    #[arg(
        long,
        value_name = "SCOPE",
        requires = "oidc_issuer",
        value_delimiter = ','
    )]
    oidc_scope: Option<Vec<String>>,
    /// The server asks for no token
    #[arg(long, group = "token")]
    no_token: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    #[command(flatten)]
    connect: ConnectArgs,
}

pub(crate) fn run(command: &ContextCommand) -> Result<Exit, Failure> {
    let mut contexts = Contexts::load()?;
    match command {
        ContextCommand::GetContexts => list(&contexts)?,
        ContextCommand::CurrentContext => match contexts.current()? {
            Some(context) => data(&format!("{}\n", context.name))?,
            None => {
                return Err(
                    Failure::new(Exit::NotFound, "no context is the current one")
                        .hint("choose one with `hyperfleet config use-context`"),
                );
            }
        },
        ContextCommand::UseContext { name } => {
            contexts.get(name)?;
            contexts.current_context = Some(name.clone());
            contexts.save()?;
            eprintln!("the current context is now `{name}`");
        }
        ContextCommand::SetContext(args) => set(&mut contexts, args)?,
        ContextCommand::DeleteContext { name } => {
            contexts.get(name)?;
            contexts.contexts.retain(|context| context.name != *name);
            contexts.current_context = contexts.current_context.filter(|current| current != name);
            contexts.save()?;
            token::forget(name)?;
            eprintln!("the context `{name}` is removed");
        }
        ContextCommand::View => data(&contexts.text()?)?,
    }
    Ok(Exit::Done)
}

fn list(contexts: &Contexts) -> Result<(), Failure> {
    let rows: Vec<Vec<Cell>> = contexts
        .contexts
        .iter()
        .map(|context| {
            let current = contexts.current_context.as_deref() == Some(&context.name);
            let token = match &context.token {
                None => "-".to_owned(),
                Some(TokenSource::File(path)) => format!("file {}", path.display()),
                Some(TokenSource::Env(name)) => format!("variable {name}"),
                Some(TokenSource::Exec(command)) => format!("program {}", command.join(" ")),
                Some(TokenSource::Oidc(oidc)) => format!("login at {}", oidc.issuer),
            };
            vec![
                Cell::toned(if current { "*" } else { "" }, Tone::Good),
                Cell::new(&context.name),
                Cell::new(&context.server),
                Cell::new(token),
                Cell::new(context.parent.as_deref().unwrap_or("-")),
            ]
        })
        .collect();
    if rows.is_empty() {
        eprintln!("there are no contexts; add one with `hyperfleet config set-context`");
        return Ok(());
    }
    let heads = ["CURRENT", "NAME", "SERVER", "TOKEN", "PARENT"];
    data(&Grid::new(heads, Look::of_stdout()).page(&rows))
}

fn set(contexts: &mut Contexts, args: &SetContextArgs) -> Result<(), Failure> {
    let old = contexts
        .contexts
        .iter()
        .find(|context| context.name == args.name);
    let server = args.server.clone();
    let server = server.or_else(|| old.map(|context| context.server.clone()));
    let Some(server) = server else {
        return Err(Failure::usage(format!(
            "the context `{}` is new: say where its server is with --server",
            args.name
        )));
    };
    hyperfleet_client::BaseUrl::parse(&server, "v1")
        .map_err(|error| Failure::usage(error.to_string()))?;
    let token = match (&args.oidc_issuer, &args.oidc_client_id) {
        (Some(issuer), Some(client_id)) => Some(TokenSource::Oidc(Oidc {
            issuer: issuer.clone(),
            client_id: client_id.clone(),
            scopes: args.oidc_scope.clone().unwrap_or_else(default_scopes),
        })),
        _ => (args.token_file.clone().map(TokenSource::File))
            .or_else(|| args.token_env.clone().map(TokenSource::Env))
            .or_else(|| args.token_exec.clone().map(TokenSource::Exec)),
    };
    let kept = old.and_then(|context| context.token.clone());
    let token = token.or_else(|| kept.filter(|_| !args.no_token));
    let parent = match &args.parent {
        Some(parent) => Some(parent.clone()).filter(|parent| !parent.is_empty()),
        None => old.and_then(|context| context.parent.clone()),
    };
    let mut headers = old
        .map(|context| context.headers.clone())
        .unwrap_or_default();
    for header in &args.header {
        wire::headers(std::slice::from_ref(header))?;
        let (name, value) = header.split_once(':').unwrap_or_default();
        match value.trim() {
            "" => headers.remove(name.trim()),
            value => headers.insert(name.trim().to_owned(), value.to_owned()),
        };
    }
    let verb = match old {
        Some(_) => "changed",
        None => "added",
    };
    contexts.put(Context {
        name: args.name.clone(),
        server,
        token,
        headers,
        parent,
    });
    contexts
        .current_context
        .get_or_insert_with(|| args.name.clone());
    contexts.save()?;
    eprintln!("the context `{}` is {verb}", args.name);
    Ok(())
}

pub(crate) async fn login(args: &LoginArgs) -> Result<Exit, Failure> {
    let choice = args.connect.choose()?;
    let Some(Context {
        name,
        token: Some(TokenSource::Oidc(oidc)),
        ..
    }) = &choice.context
    else {
        return Err(Failure::usage("there is nowhere to log in").hint(
            "name an issuer: `hyperfleet config set-context NAME --oidc-issuer URL --oidc-client-id ID`",
        ));
    };
    token::login(name, oidc).await?;
    eprintln!("you are logged in to the context `{name}`");
    Ok(Exit::Done)
}

pub(crate) fn logout(args: &LoginArgs) -> Result<Exit, Failure> {
    let choice = args.connect.choose()?;
    let name = choice.context.map_or(String::new(), |context| context.name);
    match token::forget(&name)? {
        true => eprintln!("the login of the context `{name}` is forgotten"),
        false => eprintln!("you were not logged in"),
    }
    Ok(Exit::Done)
}

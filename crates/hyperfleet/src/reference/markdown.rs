//! The page.

use std::fmt::Write as _;

use clap::{Arg, Command};

use crate::operator::exit_codes;

const HEAD: &str = "\
# The command line

One program for everything: what an operator does with a fleet, the server roles, and tools for those who write \
configuration. This page is written by `hyperfleet reference markdown`; [transcripts](transcripts) show the commands at \
work.

Data goes to stdout, everything else to stderr. Colour means something and only repeats what the words say; `NO_COLOR` \
turns it off. Whatever destroys something asks on a terminal and wants `--yes` elsewhere.

## Which server

1. `--server`, or `HYPERFLEET_SERVER`
2. the context that `--context` or `HYPERFLEET_CONTEXT` names
3. the current context, in `hyperfleet/config.yaml` of the XDG configuration directory (`~/.config`); `hyperfleet up` \
adds one called `local`
4. `http://localhost:8000`

A token comes from `HYPERFLEET_TOKEN`, else from where the context says: a file, a variable, a program (as kubectl's \
credential plugins), or a login by OpenID Connect's device flow. It is sent to the server of its context only: not to one \
that `--server` names, unless `--context` is given too.

```yaml
current_context: prod
contexts:
  - name: prod
    server: https://hyperfleet.example.com
    token: {oidc: {issuer: https://login.example.com, client_id: hyperfleet}}   # then: hyperfleet login
  - name: staging
    server: https://staging.example.com
    token: {exec: [gcloud, auth, print-identity-token]}   # or {file: PATH}, {env: VARIABLE}
    headers: {X-HyperFleet-Org: acme}                     # sent with every request, to name a tenant
    parent: cluster/shared                                # whose children are meant when nothing is said
```

## Which resources

Kinds are the server's (`hyperfleet api-resources`): plural, singular and short names, in any case. A resource is \
`KIND/NAME` or `KIND NAME`, by name or by id; a name that several have is refused with their ids. Children live in a \
parent: `--parent` says in which.

## Completion and man pages

`make install` puts the program, its man pages and completions for bash, zsh and fish below `PREFIX` (`/usr/local`). By \
hand: `source <(hyperfleet completion bash)`. Kinds, names and contexts are completed as they are.
";

pub(super) fn page(root: &Command) -> String {
    let mut out = HEAD.to_owned();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "\n## Exit codes\n\n| code | |\n|---|---|");
    for (code, meaning) in exit_codes() {
        let _ = writeln!(out, "| {code} | {meaning} |");
    }
    let _ = writeln!(out, "\n## Commands\n");
    for command in shown(root) {
        let about = about(command);
        let name = command.get_name();
        let _ = writeln!(out, "- [`{name}`](#hyperfleet-{name}): {about}");
    }
    for command in shown(root) {
        section(command, "hyperfleet", &mut out);
    }
    out
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
}

fn about(command: &Command) -> String {
    command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn section(command: &Command, before: &str, out: &mut String) {
    let name = format!("{before} {}", command.get_name());
    let _ = writeln!(
        out,
        "\n### {name}\n\n{}.",
        about(command).trim_end_matches('.')
    );
    let aliases: Vec<String> = command
        .get_visible_aliases()
        .map(|alias| format!("`{alias}`"))
        .collect();
    if !aliases.is_empty() {
        let _ = writeln!(out, "Also: {}.", aliases.join(", "));
    }
    let inner: Vec<&Command> = shown(command).collect();
    if inner.is_empty() {
        let usage = command.clone().render_usage().to_string();
        let usage = usage.trim_start_matches("Usage:").trim();
        let _ = writeln!(out, "\n```text\n{usage}\n```");
        arguments(command, out);
    }
    for command in inner {
        section(command, &name, out);
    }
}

fn arguments(command: &Command, out: &mut String) {
    let mut rows = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set())
        .filter(|argument| !matches!(argument.get_id().as_str(), "help" | "version"))
        .peekable();
    if rows.peek().is_none() {
        return;
    }
    let _ = writeln!(out, "\n| | |\n|---|---|");
    for argument in rows {
        let _ = writeln!(out, "| {} | {} |", written(argument), cell(&help(argument)));
    }
}

/// As it is written on a command line.
fn written(argument: &Arg) -> String {
    let value = match argument.get_action().takes_values() {
        true => {
            let names = argument.get_value_names().unwrap_or_default();
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            names.join(" ")
        }
        false => String::new(),
    };
    let flags: Vec<String> = argument
        .get_short()
        .map(|short| format!("`-{short}`"))
        .into_iter()
        .chain(argument.get_long().map(|long| match value.is_empty() {
            true => format!("`--{long}`"),
            false => format!("`--{long} {value}`"),
        }))
        .collect();
    match flags.is_empty() {
        true => format!("`{value}`"),
        false => flags.join(", "),
    }
}

fn help(argument: &Arg) -> String {
    let mut text = argument
        .get_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let values: Vec<String> = argument
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !values.is_empty() && argument.get_action().takes_values() {
        text.push_str(&format!(": {}", values.join(", ")));
    }
    let defaults: Vec<String> = argument
        .get_default_values()
        .iter()
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect();
    if !defaults.is_empty() && argument.get_action().takes_values() {
        text.push_str(&format!(" (default {})", defaults.join(", ")));
    }
    if let Some(variable) = argument.get_env() {
        text.push_str(&format!(" (`{}`)", variable.to_string_lossy()));
    }
    text
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

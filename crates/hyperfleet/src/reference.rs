//! `hyperfleet reference`: the command line written down, as `docs/cli.md` and as man pages. Both come from the parser,
//! so neither can say anything else.

mod markdown;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, CommandFactory, ValueEnum};

use crate::cli::Cli;

#[derive(Debug, Args)]
pub(crate) struct ReferenceArgs {
    /// What to write
    #[arg(value_enum)]
    form: Form,
    /// With man: the directory to put the pages into
    #[arg(default_value = ".")]
    directory: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// One page for all commands, on stdout
    Markdown,
    /// A page for each command
    Man,
}

pub(crate) fn write(args: &ReferenceArgs) -> Result<()> {
    let mut command = Cli::command();
    // Every command learns its whole name, `hyperfleet config view`.
    command.build();
    match args.form {
        Form::Markdown => print!("{}", markdown::page(&command)),
        Form::Man => {
            std::fs::create_dir_all(&args.directory)
                .with_context(|| format!("cannot make {}", args.directory.display()))?;
            clap_mangen::generate_to(Cli::command(), &args.directory)
                .with_context(|| format!("cannot write to {}", args.directory.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parser_has_no_contradictions() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_and_option_says_what_it_does() {
        fn check(command: &clap::Command) {
            let name = command.get_name();
            assert!(command.get_about().is_some(), "{name}");
            for argument in command.get_arguments().filter(|it| !it.is_hide_set()) {
                let told = argument.get_help().is_some();
                assert!(
                    told || argument.is_positional(),
                    "{name} {}",
                    argument.get_id()
                );
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }

    #[test]
    fn the_page_of_the_command_line_is_what_the_parser_says() {
        let mut command = Cli::command();
        command.build();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == markdown::page(&command),
            "docs/cli.md is out of date; `cargo run -p hyperfleet -- reference markdown > docs/cli.md` writes it"
        );
    }
}

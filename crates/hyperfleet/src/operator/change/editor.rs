//! `hyperfleet edit`: what is wanted in an editor, and back.

use std::path::PathBuf;
use std::process::Stdio;

use clap::Args;
use hyperfleet_client::RemoteResource;
use hyperfleet_source::SourceFile;
use serde_json::{Value, json};
use tokio::process::Command;

use super::{wanted, write};
use crate::operator::asked::Asked;
use crate::operator::connect::ConnectArgs;
use crate::operator::contexts::write_private;
use crate::operator::dry_run::DryRun;
use crate::operator::exit::Exit;
use crate::operator::failure::Failure;
use crate::operator::fleet::called;
use crate::operator::manifest::{editable, parse};

#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// KIND/NAME, or KIND NAME
    #[arg(value_name = "WHAT", required = true, num_args = 1..=2, add = crate::operator::completion::things())]
    what: Vec<String>,
    /// Among the children of this parent
    #[arg(short, long, value_name = "PARENT")]
    parent: Option<String>,
    #[command(flatten)]
    connect: ConnectArgs,
}

/// A file that is removed when it is done with.
struct Draft(PathBuf);

impl Drop for Draft {
    fn drop(&mut self) {
        // One that is left behind in the temporary directory harms nobody.
        let _ = std::fs::remove_file(&self.0);
    }
}

pub(crate) async fn edit(args: &EditArgs) -> Result<Exit, Failure> {
    let fleet = args.connect.connect().await?;
    let mut found = Asked::resources(&args.what, &fleet, args.parent.as_deref()).await?;
    let Some((kind, resource)) = found.pop().filter(|_| found.is_empty()) else {
        return Err(Failure::usage("one resource at a time"));
    };
    let name = called(&resource);
    let before = wanted(&resource.raw);
    let yaml = serde_yaml_ng::to_string(&editable(&resource.raw)).map_err(anyhow::Error::from)?;
    let file = format!("hyperfleet-edit-{}.yaml", uuid::Uuid::new_v4().simple());
    let draft = Draft(std::env::temp_dir().join(file));
    let original =
        format!("# What is wanted of {name}. Saving an empty file changes nothing.\n{yaml}");
    let mut text = original.clone();
    loop {
        write_private(&draft.0, &text)?;
        open(&draft.0).await?;
        let edited = std::fs::read_to_string(&draft.0)
            .map_err(|error| Failure::usage(format!("cannot read what was edited: {error}")))?;
        let bare: Vec<&str> = edited
            .lines()
            .filter(|line| !line.starts_with('#'))
            .collect();
        if edited == text || bare.iter().all(|line| line.trim().is_empty()) {
            eprintln!("{name}: nothing was changed");
            return Ok(Exit::Done);
        }
        let outcome = match read(&edited, &resource, &before) {
            Ok(after) => {
                let how = ("edited", DryRun::None);
                write(&fleet, kind, &resource, &before, &after, how).await
            }
            Err(failure) => Err(failure),
        };
        match outcome {
            Ok(()) => return Ok(Exit::Done),
            // Back into the editor with what is wrong on top; whoever leaves it as it is gives up.
            Err(failure) if matches!(failure.exit, Exit::Invalid | Exit::Usage) => {
                failure.print();
                let why = failure.to_string().replace('\n', "\n# ");
                text = format!("# {why}\n#\n{}\n", bare.join("\n"));
            }
            Err(failure) => return Err(failure),
        }
    }
}

/// What was written, as something that can be sent.
fn read(edited: &str, resource: &RemoteResource, before: &Value) -> Result<Value, Failure> {
    let source = SourceFile::new("what was edited", edited);
    let mut manifests = parse(&source).map_err(|wrong| Failure::usage(wrong.to_string()))?;
    let Some(manifest) = manifests.pop().filter(|_| manifests.is_empty()) else {
        return Err(Failure::usage("one resource was to be edited"));
    };
    if (&manifest.kind, &manifest.name) != (&resource.kind, &resource.name) {
        return Err(Failure::usage("kind and name cannot be changed"));
    }
    let mut after = before.clone();
    for name in super::WANTED {
        // A member that was taken out is wanted no longer.
        after[name] = manifest.wanted.get(name).cloned().unwrap_or(json!({}));
    }
    Ok(after)
}

async fn open(file: &std::path::Path) -> Result<(), Failure> {
    let set = |name: &str| {
        std::env::var(name)
            .ok()
            .filter(|value| !value.trim().is_empty())
    };
    let editor = set("VISUAL")
        .or_else(|| set("EDITOR"))
        .unwrap_or_else(|| "vi".to_owned());
    // By the shell: people put flags into these variables.
    let status = Command::new("sh")
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(file)
        .stdin(Stdio::inherit())
        .status()
        .await
        .map_err(|error| Failure::usage(format!("cannot run the editor `{editor}`: {error}")))?;
    match status.success() {
        true => Ok(()),
        false => Err(
            Failure::usage(format!("the editor `{editor}` ended with {status}"))
                .hint("VISUAL or EDITOR name the editor"),
        ),
    }
}

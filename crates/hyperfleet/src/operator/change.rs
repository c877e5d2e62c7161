//! `hyperfleet patch`, `hyperfleet label` and `hyperfleet edit`: changing what is wanted of a resource.
//!
//! The API replaces whole fields. These commands read, change a part, and write the field back with the generation
//! they read, so that nobody's work in between is lost.

mod editor;

use clap::{Args, ValueEnum};
use hyperfleet_client::RemoteResource;
use serde_json::{Map, Value, json};

use super::asked::Asked;
use super::connect::ConnectArgs;
use super::dry_run::{DryRun, DryRunArgs};
use super::exit::Exit;
use super::failure::Failure;
use super::fleet::{Fleet, called};
use super::kinds::KindInfo;
use super::manifest::{WANTED, bare};
use super::printer::data;

pub(crate) use editor::{EditArgs, edit};

#[derive(Debug, Args)]
pub(crate) struct PatchArgs {
    /// KIND/NAME…, or KIND NAME…
    #[arg(value_name = "WHAT", required = true, add = super::completion::things())]
    what: Vec<String>,
    /// What to change, as JSON or YAML: '{"spec": {"nodes": 5}}'
    #[arg(short = 'p', long, value_name = "PATCH")]
    patch: String,
    /// How the patch is meant
    #[arg(long, value_enum, default_value = "merge", value_name = "TYPE")]
    r#type: PatchType,
    /// Among the children of this parent
    #[arg(long, value_name = "PARENT")]
    parent: Option<String>,
    #[command(flatten)]
    dry_run: DryRunArgs,
    #[command(flatten)]
    connect: ConnectArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PatchType {
    /// RFC 7396: members are merged, null removes one
    Merge,
    /// RFC 6902: a list of operations
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct LabelArgs {
    /// KIND/NAME or KIND NAME, then KEY=VALUE to set a label and KEY- to remove one
    #[arg(value_name = "WHAT", required = true, num_args = 2.., add = super::completion::things())]
    words: Vec<String>,
    /// Change labels that have another value already
    #[arg(long)]
    overwrite: bool,
    /// Among the children of this parent
    #[arg(short, long, value_name = "PARENT")]
    parent: Option<String>,
    #[command(flatten)]
    dry_run: DryRunArgs,
    #[command(flatten)]
    connect: ConnectArgs,
}

pub(crate) async fn patch(args: &PatchArgs) -> Result<Exit, Failure> {
    let patch: Value = serde_yaml_ng::from_str(&args.patch)
        .map_err(|error| Failure::usage(format!("the patch is neither JSON nor YAML: {error}")))?;
    let fleet = args.connect.connect().await?;
    let found = Asked::resources(&args.what, &fleet, args.parent.as_deref()).await?;
    for (kind, resource) in &found {
        let before = wanted(&resource.raw);
        let mut after = before.clone();
        match args.r#type {
            PatchType::Merge => json_patch::merge(&mut after, &patch),
            PatchType::Json => {
                let operations: json_patch::Patch =
                    serde_json::from_value(patch.clone()).map_err(|error| {
                        Failure::usage(format!("the patch is no list of operations: {error}"))
                    })?;
                json_patch::patch(&mut after, &operations)
                    .map_err(|error| Failure::usage(format!("{}: {error}", called(resource))))?;
            }
        }
        let how = ("patched", args.dry_run.dry_run);
        write(&fleet, kind, resource, &before, &after, how).await?;
    }
    Ok(Exit::Done)
}

/// What can be changed, every member of it there.
pub(super) fn wanted(resource: &Value) -> Value {
    let member = |name: &str| match resource.get(name) {
        None | Some(Value::Null) => json!({}),
        Some(value) => bare(name, value),
    };
    Value::Object(
        WANTED
            .into_iter()
            .map(|name| (name.to_owned(), member(name)))
            .collect(),
    )
}

/// Sends the members that changed, or has them tried, and tells it.
pub(super) async fn write(
    fleet: &Fleet,
    kind: &KindInfo,
    resource: &RemoteResource,
    before: &Value,
    after: &Value,
    (verb, dry_run): (&str, DryRun),
) -> Result<(), Failure> {
    let name = called(resource);
    let change = changed(before, after)?;
    let note = dry_run.note();
    if change.is_empty() {
        return data(&format!("{name} unchanged{note}\n"));
    }
    if let Some(effect) = dry_run.effect(fleet).await? {
        let body = Value::Object(change);
        let generation = Some(resource.generation);
        let written = fleet
            .client
            .patch(&kind.plural, &resource.id, &body, generation, effect)
            .await;
        written.map_err(|error| {
            fleet
                .told(error)
                .while_doing(format!("cannot change {name}"))
        })?;
    }
    data(&format!("{name} {verb}{note}\n"))
}

/// The members that are other than they were; one that is none of those that can be changed is refused.
fn changed(before: &Value, after: &Value) -> Result<Map<String, Value>, Failure> {
    let Some(members) = after.as_object() else {
        return Err(Failure::usage("a resource is an object"));
    };
    for name in members.keys() {
        if !WANTED.contains(&name.as_str()) {
            let failure = Failure::usage(format!("`{name}` cannot be changed"));
            let help = hyperfleet_source::suggest::help(name, WANTED);
            return Err(help.into_iter().fold(failure, Failure::hint));
        }
    }
    let other = |name: &str| {
        let empty = json!({});
        let new = members.get(name).filter(|value| !value.is_null());
        let new = new.unwrap_or(&empty);
        (before.get(name) != Some(new)).then(|| (name.to_owned(), new.clone()))
    };
    Ok(WANTED.into_iter().filter_map(other).collect())
}

pub(crate) async fn label(args: &LabelArgs) -> Result<Exit, Failure> {
    let is_change = |word: &&String| word.contains('=') || word.ends_with('-');
    let what: Vec<String> = args
        .words
        .iter()
        .take_while(|it| !is_change(it))
        .cloned()
        .collect();
    let changes = &args.words[what.len()..];
    if changes.is_empty() {
        return Err(Failure::usage(
            "say what to do: KEY=VALUE sets a label, KEY- removes one",
        ));
    }
    let fleet = args.connect.connect().await?;
    let found = Asked::resources(&what, &fleet, args.parent.as_deref()).await?;
    for (kind, resource) in &found {
        let before = wanted(&resource.raw);
        let mut after = before.clone();
        relabel(&mut after["labels"], changes, args.overwrite)
            .map_err(|failure| failure.while_doing(called(resource)))?;
        let how = ("labeled", args.dry_run.dry_run);
        write(&fleet, kind, resource, &before, &after, how).await?;
    }
    Ok(Exit::Done)
}

fn relabel(labels: &mut Value, changes: &[String], overwrite: bool) -> Result<(), Failure> {
    let Some(labels) = labels.as_object_mut() else {
        return Err(Failure::usage("its labels are no mapping"));
    };
    for change in changes {
        match (change.split_once('='), change.strip_suffix('-')) {
            (Some((key, value)), _) => {
                let old = labels.get(key).and_then(Value::as_str);
                if let Some(old) = old.filter(|old| *old != value && !overwrite) {
                    return Err(Failure::new(
                        Exit::Conflict,
                        format!("the label `{key}` is `{old}` already"),
                    )
                    .hint("--overwrite changes it"));
                }
                labels.insert(key.to_owned(), json!(value));
            }
            (None, Some(key)) => {
                labels.remove(key);
            }
            (None, None) => {
                return Err(Failure::usage(format!(
                    "`{change}`: KEY=VALUE sets a label, KEY- removes one"
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_set_and_removed_and_not_overwritten_by_accident() {
        let words = |words: &[&str]| -> Vec<String> {
            words.iter().map(|word| (*word).to_owned()).collect()
        };
        let mut labels = json!({"a": "1", "b": "2"});
        relabel(&mut labels, &words(&["a=1", "b-", "c=3"]), false).unwrap();
        assert_eq!(labels, json!({"a": "1", "c": "3"}));
        assert!(relabel(&mut labels, &words(&["a=2"]), false).is_err());
        relabel(&mut labels, &words(&["a=2"]), true).unwrap();
        assert_eq!(labels["a"], "2");
    }

    #[test]
    fn only_members_that_changed_are_sent_and_others_are_refused() {
        let before = wanted(&json!({"spec": {"a": 1}, "labels": {"x": "y"}, "status": {}}));
        let mut after = before.clone();
        json_patch::merge(
            &mut after,
            &json!({"spec": {"b": 2}, "labels": {"x": null}}),
        );
        let change = changed(&before, &after).unwrap();
        assert_eq!(
            Value::Object(change),
            json!({"spec": {"a": 1, "b": 2}, "labels": {}})
        );
        json_patch::merge(&mut after, &json!({"name": "other"}));
        assert!(changed(&before, &after).is_err());
    }
}

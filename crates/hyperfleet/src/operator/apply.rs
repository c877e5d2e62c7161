//! `hyperfleet apply`, `hyperfleet create` and `hyperfleet diff`: what files want, against what is there.

use clap::{Args, ValueEnum};
use hyperfleet_client::RemoteResource;
use hyperfleet_core::effect::Effect;
use serde_json::{Map, Value, json};
use similar::TextDiff;

use super::connect::ConnectArgs;
use super::dry_run::{DryRun, DryRunArgs};
use super::exit::Exit;
use super::failure::Failure;
use super::fleet::{Fleet, called};
use super::goal::Goal;
use super::intent::{Intent, Step};
use super::kinds::KindInfo;
use super::manifest::{FileArgs, Manifest, editable};
use super::printer::data;
use super::wait::{PatienceArgs, until};

/// How much of the unchanged is shown around a difference.
const AROUND: usize = 3;

#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// A kind and a name: cluster production-1; or -f
    #[arg(
        value_name = "KIND NAME",
        num_args = 2,
        required_unless_present = "filename",
        conflicts_with = "filename"
    )]
    what: Option<Vec<String>>,
    /// A file, a directory with files (.yaml, .yml, .json), or - for standard input; may be repeated
    #[arg(short, long, value_name = "FILE")]
    filename: Vec<String>,
    /// Directories in directories too
    #[arg(short = 'R', long, requires = "filename")]
    recursive: bool,
    /// The spec, as JSON or YAML: '{region: eu-west-1}'
    #[arg(long, value_name = "SPEC", requires = "what")]
    spec: Option<String>,
    /// A label: env=prod; may be repeated
    #[arg(short, long, value_name = "KEY=VALUE", requires = "what")]
    label: Vec<String>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
struct How {
    /// The parent of those that name none: KIND/NAME, or its name
    #[arg(short, long, value_name = "PARENT")]
    parent: Option<String>,
    #[command(flatten)]
    dry_run: DryRunArgs,
    /// Print the resources: json, yaml or name
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Printed>,
    #[command(flatten)]
    patience: PatienceArgs,
    #[command(flatten)]
    connect: ConnectArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Printed {
    Json,
    Yaml,
    Name,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    files: FileArgs,
    /// The parent of those that name none: KIND/NAME, or its name
    #[arg(short, long, value_name = "PARENT")]
    parent: Option<String>,
    #[command(flatten)]
    connect: ConnectArgs,
}

pub(crate) async fn apply(args: &ApplyArgs) -> Result<Exit, Failure> {
    let manifests = args.files.read()?;
    let fleet = args.how.connect.connect().await?;
    let effect = args.how.dry_run.dry_run.effect(&fleet).await?;
    let mut applied = Vec::new();
    for manifest in manifests {
        let intent = Intent::of(&fleet, manifest, args.how.parent.as_deref()).await?;
        let step = intent.step();
        let done = args.how.carry_out(&fleet, &intent, &step, effect).await?;
        applied.extend(done.map(|resource| (intent.kind, resource)));
    }
    args.how.wait(&fleet, &applied).await
}

pub(crate) async fn create(args: &CreateArgs) -> Result<Exit, Failure> {
    let manifests = match args.what.as_deref() {
        Some([kind, name]) => vec![written(args, kind, name)?],
        _ => {
            let files = FileArgs {
                filename: args.filename.clone(),
                recursive: args.recursive,
            };
            files.read()?
        }
    };
    let fleet = args.how.connect.connect().await?;
    let effect = args.how.dry_run.dry_run.effect(&fleet).await?;
    let mut created = Vec::new();
    for manifest in manifests {
        let mut intent = Intent::of(&fleet, manifest, args.how.parent.as_deref()).await?;
        // The server says whether the name is free; only a dry run without it must say it itself.
        if let Some(existing) = intent.existing.take()
            && args.how.dry_run.dry_run == DryRun::Client
        {
            return Err(Failure::new(
                Exit::Conflict,
                format!("{} exists already", called(&existing)),
            )
            .hint("`apply` changes what exists"));
        }
        let step = Step::Create(intent.body());
        let done = args.how.carry_out(&fleet, &intent, &step, effect).await?;
        created.extend(done.map(|resource| (intent.kind, resource)));
    }
    args.how.wait(&fleet, &created).await
}

/// A manifest from flags.
fn written(args: &CreateArgs, kind: &str, name: &str) -> Result<Manifest, Failure> {
    let mut wanted = Map::new();
    if let Some(spec) = &args.spec {
        let spec: Value = serde_yaml_ng::from_str(spec)
            .map_err(|error| Failure::usage(format!("--spec is neither JSON nor YAML: {error}")))?;
        wanted.insert("spec".to_owned(), spec);
    }
    let mut labels = Map::new();
    for label in &args.label {
        let Some((key, value)) = label.split_once('=') else {
            return Err(Failure::usage(format!(
                "`{label}` is no label; write KEY=VALUE"
            )));
        };
        labels.insert(key.to_owned(), json!(value));
    }
    if !labels.is_empty() {
        wanted.insert("labels".to_owned(), Value::Object(labels));
    }
    Ok(Manifest {
        place: "the command line".to_owned(),
        kind: kind.to_owned(),
        name: name.to_owned(),
        parent: None,
        wanted,
    })
}

impl How {
    /// Does it and tells it; the resource, unless it was only tried.
    async fn carry_out(
        &self,
        fleet: &Fleet,
        intent: &Intent<'_>,
        step: &Step,
        effect: Option<Effect>,
    ) -> Result<Option<RemoteResource>, Failure> {
        let note = self.dry_run.dry_run.note();
        let Some(effect) = effect else {
            match (self.output, step) {
                (None | Some(Printed::Name), _) => {
                    data(&format!("{} {}{note}\n", intent.called(), step.done()))?;
                }
                (Some(format), Step::Create(body)) => print(format, body)?,
                (Some(format), Step::Change(change)) => {
                    print(format, &changed(intent, Some(change)))?;
                }
                (Some(format), Step::Nothing) => print(format, &changed(intent, None))?,
            }
            return Ok(None);
        };
        let resource = intent.carry_out(fleet, step, effect).await?;
        match self.output {
            None => data(&format!("{} {}{note}\n", called(&resource), step.done()))?,
            Some(Printed::Name) => data(&format!("{}\n", called(&resource)))?,
            Some(format) => print(format, &resource.raw)?,
        }
        Ok(Some(resource).filter(|_| effect.is_lasting()))
    }

    async fn wait(
        &self,
        fleet: &Fleet,
        resources: &[(&KindInfo, RemoteResource)],
    ) -> Result<Exit, Failure> {
        match self.patience.wait {
            true => until(fleet, resources, &Goal::ready(), self.patience.timeout).await,
            false => Ok(Exit::Done),
        }
    }
}

fn print(format: Printed, value: &Value) -> Result<(), Failure> {
    let text = match format {
        Printed::Yaml => {
            let yaml = serde_yaml_ng::to_string(value).map_err(anyhow::Error::from)?;
            format!("---\n{yaml}")
        }
        _ => serde_json::to_string_pretty(value).map_err(anyhow::Error::from)? + "\n",
    };
    data(&text)
}

/// What is there, with a change.
fn changed(intent: &Intent<'_>, change: Option<&Value>) -> Value {
    let mut whole = match &intent.existing {
        Some(existing) => existing.raw.clone(),
        None => json!({}),
    };
    for (name, value) in change.and_then(Value::as_object).into_iter().flatten() {
        whole[name] = value.clone();
    }
    whole
}

pub(crate) async fn diff(args: &DiffArgs) -> Result<Exit, Failure> {
    let manifests = args.files.read()?;
    let fleet = args.connect.connect().await?;
    let mut differs = false;
    for manifest in manifests {
        let intent = Intent::of(&fleet, manifest, args.parent.as_deref()).await?;
        let (before, after) = match (intent.step(), &intent.existing) {
            (Step::Create(body), _) => (String::new(), yaml(&editable(&body))?),
            (Step::Change(change), Some(existing)) => (
                yaml(&editable(&existing.raw))?,
                yaml(&editable(&changed(&intent, Some(&change))))?,
            ),
            _ => continue,
        };
        differs = true;
        let name = intent.called();
        let text = TextDiff::from_lines(&before, &after)
            .unified_diff()
            .context_radius(AROUND)
            .header(
                &format!("{name} on the server"),
                &format!("{name} in {}", intent.manifest.place),
            )
            .to_string();
        data(&text)?;
    }
    Ok(match differs {
        true => Exit::Failed,
        false => Exit::Done,
    })
}

fn yaml(value: &Value) -> Result<String, Failure> {
    Ok(serde_yaml_ng::to_string(value).map_err(anyhow::Error::from)?)
}

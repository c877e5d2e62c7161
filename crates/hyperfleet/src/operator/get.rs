//! `hyperfleet get`: a list, page after page as it comes, or some resources, and what happens to them.

use chrono::Utc;
use clap::Args;
use hyperfleet_client::{Follow, RemoteResource};
use serde_json::Value;

use super::asked::{Asked, find};
use super::columns::{self, FIELDS, Parents, Surroundings};
use super::connect::ConnectArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::fleet::{Fleet, quoted};
use super::follow::{Following, News};
use super::jsonpath::{Path, compare};
use super::kinds::KindInfo;
use super::parents::ParentNames;
use super::printer::{Heads, Plurality, Printer};
use super::selector;
use super::shape::Shape;
use super::walk::Walk;

/// Orders in which a list can be walked through.
const WALKED: [&str; 3] = ["name", "created_time", "id"];

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// A kind, KIND NAME…, or KIND/NAME…; a name or an id; `all` for every kind
    #[arg(value_name = "WHAT", required = true, add = super::completion::things())]
    what: Vec<String>,
    /// How: table, wide, json, yaml, name, jsonpath=TEMPLATE, custom-columns=NAME:.path,…
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: Shape,
    /// Only those with these labels: env=prod,tier!=web,region in (eu,us),!old
    #[arg(short = 'l', long, value_name = "LABELS")]
    selector: Option<String>,
    /// Only those that a search finds: "status.phase = 'Failed' AND spec.nodes > 3"
    #[arg(long, value_name = "SEARCH")]
    search: Option<String>,
    /// Order: name, created_time, id, or any path such as .status.phase
    #[arg(long, value_name = "FIELD")]
    sort_by: Option<String>,
    /// Only children of this parent: KIND/NAME, or its name
    #[arg(short, long, value_name = "PARENT", conflicts_with = "all_parents")]
    parent: Option<String>,
    /// Children of every parent, also when the context names one
    #[arg(short = 'A', long)]
    all_parents: bool,
    /// Stay, and print every change
    #[arg(short, long, conflicts_with = "sort_by")]
    watch: bool,
    /// Leave out the first line of a table
    #[arg(long)]
    no_headers: bool,
    #[command(flatten)]
    connect: ConnectArgs,
}

pub(crate) async fn run(args: &GetArgs) -> Result<Exit, Failure> {
    let fleet = args.connect.connect().await?;
    match Asked::read(&args.what)? {
        Asked::Kinds(kinds) => {
            if kinds.len() > 1 && (args.watch || !args.output.is_table()) {
                return Err(Failure::usage(
                    "one kind at a time can be watched, or printed other than as tables",
                )
                .hint("`hyperfleet get all` has every kind in one list"));
            }
            for (index, kind) in kinds.iter().enumerate() {
                if index > 0 {
                    super::printer::data("\n")?;
                }
                list(args, &fleet, fleet.kind(kind).await?).await?;
            }
        }
        Asked::Named(named) => some(args, &fleet, &named).await?,
    }
    Ok(Exit::Done)
}

impl GetArgs {
    fn heads(&self) -> Heads {
        match self.no_headers {
            true => Heads::Hidden,
            false => Heads::Shown,
        }
    }

    fn fields(&self) -> Option<String> {
        match &self.output {
            Shape::Table | Shape::Wide => Some(FIELDS.to_owned()),
            Shape::Name => Some("kind,name".to_owned()),
            _ => None,
        }
    }

    /// Everything that narrows the list.
    fn narrowed(&self, parent: Option<&RemoteResource>) -> Result<Option<String>, Failure> {
        let mut terms = Vec::new();
        if let Some(parent) = parent {
            terms.push(format!("owner_id = {}", quoted(&parent.id)));
        }
        if let Some(selector) = &self.selector {
            terms.push(selector::to_search(selector).map_err(Failure::usage)?);
        }
        if let Some(search) = &self.search {
            terms.push(match terms.is_empty() {
                true => search.clone(),
                false => format!("({search})"),
            });
        }
        Ok(Some(terms.join(" AND ")).filter(|search| !search.is_empty()))
    }
}

/// A field by which the server can walk, in kubectl's words too.
fn walked(sort_by: &str) -> Option<&'static str> {
    let bare = sort_by.trim_start_matches(['{', '.']).trim_end_matches('}');
    let bare = bare.strip_prefix("metadata.").unwrap_or(bare);
    let bare = match bare {
        "creationTimestamp" => "created_time",
        other => other,
    };
    WALKED.into_iter().find(|field| *field == bare)
}

async fn list(args: &GetArgs, fleet: &Fleet, kind: &KindInfo) -> Result<(), Failure> {
    let parent = match args.all_parents {
        true => None,
        false => fleet.parent_for(kind, args.parent.as_deref()).await?,
    };
    let sorted_here = match &args.sort_by {
        Some(field) if walked(field).is_none() => Some(Path::parse(field).map_err(Failure::usage)?),
        _ => None,
    };
    let follow = Follow {
        plural: kind.plural.clone(),
        search: args.narrowed(parent.as_ref())?,
        fields: match sorted_here {
            Some(_) => None,
            None => args.fields(),
        },
        order: args.sort_by.as_deref().and_then(walked).map(str::to_owned),
    };
    let parents = match parent {
        Some(_) => Parents::Known,
        None => Parents::Shown,
    };
    let mut view = View::new(args, fleet, kind, parents, Plurality::Many);
    let mut kept = Vec::new();
    let mut walk = Walk::new(fleet, &follow);
    while let Some(items) = walk.next().await? {
        match sorted_here {
            Some(_) => kept.extend(items),
            None => view.page(&items).await?,
        }
    }
    if let Some(path) = &sorted_here {
        sort(&mut kept, path);
        view.page(&kept).await?;
    }
    if !args.watch {
        if view.printer.end()? == 0 && args.output.is_table() {
            eprintln!("no {} found", kind.plural);
        }
        return Ok(());
    }
    let Some(since) = walk.since else {
        return Err(Failure::new(
            Exit::Failed,
            format!(
                "{} has no change feed, so nothing can be watched",
                fleet.place
            ),
        ));
    };
    watch(&mut view, &follow, since).await
}

/// By the first value at a path; those without one come last.
fn sort(resources: &mut [RemoteResource], path: &Path) {
    let key = |resource: &RemoteResource| -> Option<Value> {
        path.select(&resource.raw)
            .first()
            .map(|value| (*value).clone())
    };
    resources.sort_by(|left, right| match (key(left), key(right)) {
        (Some(left), Some(right)) => compare(&left, &right).unwrap_or(std::cmp::Ordering::Equal),
        (left, right) => right.is_some().cmp(&left.is_some()),
    });
}

async fn some(args: &GetArgs, fleet: &Fleet, named: &[(String, String)]) -> Result<(), Failure> {
    if args.selector.is_some() || args.search.is_some() || args.sort_by.is_some() {
        return Err(Failure::usage(
            "what is named cannot also be searched for or sorted: leave out -l, --search and --sort-by",
        ));
    }
    let plurality = match named {
        [_] => Plurality::One,
        _ => Plurality::Many,
    };
    let mut kind = fleet.kind(&named[0].0).await?;
    for (other, _) in named {
        if fleet.kind(other).await? != kind {
            kind = fleet.kind("all").await?;
        }
    }
    let parents = Parents::Shown;
    let mut view = View::new(args, fleet, kind, parents, plurality);
    let mut found = Vec::new();
    for (kind, name) in named {
        let kind = fleet.kind(kind).await?;
        found.push(find(fleet, kind, name, args.parent.as_deref()).await?);
    }
    if !args.watch {
        view.page(&found).await?;
        view.printer.end()?;
        return Ok(());
    }
    let ids: Vec<String> = found.iter().map(|one| quoted(&one.id)).collect();
    let follow = Follow {
        plural: kind.plural.clone(),
        search: Some(format!("id IN [{}]", ids.join(", "))),
        fields: args.fields(),
        order: None,
    };
    let mut walk = Walk::new(fleet, &follow);
    while let Some(items) = walk.next().await? {
        view.page(&items).await?;
    }
    let since = walk.since.unwrap_or_default();
    watch(&mut view, &follow, since).await
}

/// Prints every change until nobody looks any longer. Nothing is kept, so it can go on for days.
async fn watch(view: &mut View<'_>, follow: &Follow, since: String) -> Result<(), Failure> {
    let mut following = Following::new(view.fleet, follow.clone(), since);
    loop {
        match following.next().await? {
            News::Upsert(resource) => view.change(*resource).await?,
            // What only left the search has no name here: it is not gone, and not ours any longer.
            News::Delete(resource) if resource.name.is_empty() => {}
            News::Delete(mut resource) => {
                resource.status.phase = Some("Gone".to_owned());
                view.change(*resource).await?;
            }
            News::Lost => {
                eprintln!("hyperfleet: too much happened meanwhile; this is how it is now:");
                let mut walk = Walk::new(view.fleet, follow);
                while let Some(items) = walk.next().await? {
                    view.page(&items).await?;
                }
                let since = walk.since.unwrap_or_default();
                following = Following::new(view.fleet, follow.clone(), since);
            }
        }
    }
}

/// What is printed of a kind, and how.
struct View<'a> {
    fleet: &'a Fleet,
    kind: &'a KindInfo,
    printer: Printer<'a>,
    shape: &'a Shape,
    names: ParentNames,
    parents: Parents,
}

impl<'a> View<'a> {
    fn new(
        args: &'a GetArgs,
        fleet: &'a Fleet,
        kind: &'a KindInfo,
        parents: Parents,
        plurality: Plurality,
    ) -> View<'a> {
        let columns = columns::of(kind, parents, args.output == Shape::Wide);
        // A watch prints one after the other, never a list that would have to end.
        let plurality = match args.watch {
            true => Plurality::One,
            false => plurality,
        };
        View {
            fleet,
            kind,
            printer: Printer::new(&args.output, columns, plurality, args.heads()),
            shape: &args.output,
            names: ParentNames::default(),
            parents,
        }
    }

    async fn page(&mut self, items: &[RemoteResource]) -> Result<(), Failure> {
        if self.shape.is_table() && self.parents == Parents::Shown {
            self.names.learn(self.fleet, items).await?;
        }
        let kinds = self.fleet.kinds().await?;
        let now = Utc::now();
        let rows: Vec<(&RemoteResource, Surroundings<'_>)> = items
            .iter()
            .map(|resource| {
                let around = Surroundings {
                    kind: kinds.of(&resource.kind).unwrap_or(self.kind),
                    parent: self.names.of(resource),
                    now,
                };
                (resource, around)
            })
            .collect();
        self.printer.page(&rows)
    }

    async fn change(&mut self, resource: RemoteResource) -> Result<(), Failure> {
        self.page(std::slice::from_ref(&resource)).await
    }
}

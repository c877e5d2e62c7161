//! What an adapter does, compiled: nothing in here can be misspelt any more.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use hyperfleet_client::{Backoff, Method};
use hyperfleet_core::retention::Retention;
use hyperfleet_expr::cel::Program;
use hyperfleet_expr::path::Path;
use hyperfleet_expr::structured::Condition;
use hyperfleet_expr::template::{Manifest as Structure, Template};
use hyperfleet_transport::{ObjectKind, Propagation};
use serde_json::Value as Json;

use crate::danger::Danger;

/// A task configuration, ready to run.
#[derive(Debug)]
pub struct Task {
    /// Resolved in this order; a later one of the same name replaces the earlier.
    pub params: Vec<Param>,
    /// All must hold before anything is applied.
    pub preconditions: Vec<Precondition>,
    /// What is kept on the target, in order.
    pub resources: Vec<Resource>,
    /// What is reported; without it, the standard conditions are.
    pub post: Option<Post>,
    /// The environment variables it names, which are the only ones expressions can see.
    pub environment: BTreeSet<String>,
}

/// A named value.
#[derive(Debug)]
pub struct Param {
    /// Under which name expressions and templates see it.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
    /// What it is converted to.
    pub kind: Option<ParamType>,
    /// Whether the event fails without it.
    pub required: bool,
    /// What it is when the source gives nothing.
    pub default: Option<Json>,
}

/// Where a value comes from.
#[derive(Debug)]
pub enum Source {
    /// An environment variable.
    Env(String),
    /// Keys into the event's data.
    Event(Vec<String>),
    /// Keys into the deployment configuration.
    Config(Vec<String>),
    /// An earlier value, and keys into it.
    Value(String, Vec<String>),
    /// The answer of a call.
    Call(Box<ApiCall>),
    /// Computed.
    Expression(Program),
    /// A value of a Secret or ConfigMap on the target, read for every event.
    Held {
        /// Which of the two.
        kind: Holder,
        /// Where.
        namespace: Template,
        /// Which.
        name: Template,
        /// Which of its values.
        key: Template,
    },
    /// The content of a file, read for every event.
    File {
        /// Which file.
        path: PathBuf,
        /// Without surrounding white space.
        trim: bool,
    },
}

/// What holds values on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Values that are never shown.
    Secret,
    /// Values anybody may see.
    ConfigMap,
}

/// What a value is converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// Text.
    String,
    /// Whole number.
    Int,
    /// Number.
    Float,
    /// Truth value.
    Bool,
}

/// A request to the API, or to another server.
#[derive(Debug)]
pub struct ApiCall {
    /// The verb.
    pub method: Method,
    /// Relative to the API, or absolute.
    pub url: Template,
    /// Names and values.
    pub headers: Vec<(String, Template)>,
    /// What is sent.
    pub body: Option<Template>,
    /// Instead of the client's.
    pub timeout: Option<Duration>,
    /// Instead of the client's, in total.
    pub attempts: Option<u32>,
    /// Instead of the client's.
    pub backoff: Option<Backoff>,
}

/// A line for the log.
#[derive(Debug)]
pub struct Log {
    /// What it says.
    pub message: Template,
    /// How loud.
    pub level: Level,
}

/// How loud a log line is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// For debugging.
    Debug,
    /// Normal.
    #[default]
    Info,
    /// Suspicious.
    Warn,
    /// Wrong.
    Error,
}

/// Something that must hold.
#[derive(Debug)]
pub struct Precondition {
    /// What it is called in messages; also the name of the call's answer.
    pub name: String,
    /// Said first.
    pub log: Option<Log>,
    /// Fetched before it is judged.
    pub call: Option<ApiCall>,
    /// The answer under a name of its own, with the names and numbers of older documents added.
    pub output: Option<String>,
    /// Values taken from the answer.
    pub captures: Vec<Capture>,
    /// The judgement.
    pub test: Option<Test>,
}

/// A value taken from an answer.
#[derive(Debug)]
pub struct Capture {
    /// Its name.
    pub name: String,
    /// How it is found.
    pub from: CaptureFrom,
    /// What it is if nothing is found.
    pub default: Option<Json>,
}

/// How a captured value is found.
#[derive(Debug)]
pub enum CaptureFrom {
    /// A path into the answer.
    Field(Path),
    /// Computed from the answer.
    Expression(Program),
}

/// A yes-or-no question.
#[derive(Debug)]
pub enum Test {
    /// In CEL.
    Expression(Program),
    /// As a list of field, operator and value, all of which must hold.
    Conditions(Vec<Condition>),
}

/// An object kept on the target.
#[derive(Debug)]
pub struct Resource {
    /// `resources.<name>` in expressions.
    pub name: String,
    /// Where it is kept.
    pub destination: Destination,
    /// What sort of object.
    pub kind: ObjectKind,
    /// What it should look like. Without, it is somebody else's, and only patched, detached or
    /// deleted.
    pub manifest: Option<Manifest>,
    /// How it is found; without, by the name in the manifest.
    pub discovery: Option<Discovery>,
    /// Objects carried inside it that get names of their own.
    pub nested: Vec<Nested>,
    /// Replace it, rather than update it, when the generation changes.
    pub recreate_on_change: bool,
    /// An earlier resource of the same task that owns it.
    pub owner: Option<String>,
    /// How long old versions stay beside the current one. Without, there is one version.
    pub retention: Option<Retention>,
    /// Must hold for anything to be done to it but deletion and detachment.
    pub when: Option<Test>,
    /// What may be done to it, and when.
    pub lifecycle: Lifecycle,
    /// Dangerous powers that it may ask for.
    pub(crate) allow: BTreeSet<Danger>,
}

/// Where an object is kept.
#[derive(Debug)]
pub enum Destination {
    /// In the cluster the adapter is connected to.
    Kubernetes,
    /// At Maestro, for an agent to fetch.
    Maestro {
        /// The cluster it is for; what Maestro calls a consumer.
        cluster: Template,
    },
}

impl Destination {
    /// Whether it is a work.
    pub fn is_maestro(&self) -> bool {
        matches!(self, Self::Maestro { .. })
    }
}

/// The gates of an object. The order in which they are asked is the plan's.
#[derive(Debug, Default)]
pub struct Lifecycle {
    /// Must hold for it to be created or updated.
    pub apply: Option<Test>,
    /// Must hold for it to be created.
    pub create: Option<Test>,
    /// Changes to what exists; every one whose question is answered with yes.
    pub patch: Vec<PatchGate>,
    /// When it is replaced by a new one.
    pub recreate: Option<Test>,
    /// When it is released without being deleted.
    pub detach: Option<Test>,
    /// When it is to be deleted, and how.
    pub delete: Option<DeleteGate>,
}

/// A change to an existing object.
#[derive(Debug)]
pub struct PatchGate {
    /// The question.
    pub when: Test,
    /// A JSON merge patch with templates in it.
    pub document: Structure,
}

/// When an object is deleted.
#[derive(Debug)]
pub struct DeleteGate {
    /// The question.
    pub when: Test,
    /// What happens to owned objects.
    pub propagation: Propagation,
}

/// A manifest with templates in it.
#[derive(Debug)]
pub enum Manifest {
    /// A mapping whose texts are templates.
    Structure(Structure),
    /// A text that is rendered first and parsed then.
    Text(Template),
}

/// How an existing object is found.
#[derive(Debug)]
pub struct Discovery {
    /// Where; everywhere if absent.
    pub namespace: Option<Template>,
    /// By what.
    pub by: DiscoverBy,
}

/// What an object is recognised by.
#[derive(Debug)]
pub enum DiscoverBy {
    /// Its name.
    Name(Template),
    /// Labels it must all carry.
    Labels(Vec<(Template, Template)>),
}

/// An object carried inside another.
#[derive(Debug)]
pub struct Nested {
    /// `resources.<name>` in expressions.
    pub name: String,
    /// How it is found.
    pub discovery: Discovery,
}

/// What is reported, and where to.
#[derive(Debug)]
pub struct Post {
    /// Documents, built first.
    pub payloads: Vec<Payload>,
    /// Then done, in order.
    pub actions: Vec<Action>,
}

/// A document that is built.
#[derive(Debug)]
pub struct Payload {
    /// Under which name templates see its JSON text.
    pub name: String,
    /// Only if this holds.
    pub when: Option<Test>,
    /// How.
    pub build: Build,
}

/// How a value of a document is made.
#[derive(Debug)]
pub enum Build {
    /// As written.
    Fixed(Json),
    /// Rendered.
    Text(Template),
    /// Looked up.
    Field {
        /// Where.
        path: Path,
        /// If nothing is there.
        default: Option<Json>,
    },
    /// Computed.
    Expression {
        /// How.
        program: Program,
        /// If there is no value.
        default: Option<Json>,
    },
    /// Keys, which may be templates, and values.
    Map(Vec<(Template, Build)>),
    /// Items.
    List(Vec<Build>),
}

/// Something done at the end.
#[derive(Debug)]
pub struct Action {
    /// What it is called in messages.
    pub name: String,
    /// Only if this holds.
    pub when: Option<Test>,
    /// Said.
    pub log: Option<Log>,
    /// Sent.
    pub call: Option<ApiCall>,
    /// The payloads its body uses: without them it is not done.
    pub payloads: Vec<String>,
}

//! The task configuration as its authors write it: a type for each mapping, with the words that editors and the reference
//! show. The file is read key by key (`config`), so that every mistake has its place and all are found at once; these
//! types only say what is read, and a test holds the two against each other.

#![expect(dead_code, reason = "described, never built")]

use std::collections::BTreeMap;

use hyperfleet_expr::structured::Operator;
use hyperfleet_runtime::GoDuration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value as Json};

/// What an adapter does for each event.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Task {
    /// Named values, resolved in order. Each can use those before it.
    params: Option<Vec<Param>>,
    /// What must hold before anything is applied, judged in order.
    preconditions: Option<Vec<Precondition>>,
    /// Objects to keep on the target, in the order they are applied.
    resources: Option<Vec<Resource>>,
    /// What is reported. Without it, the standard report.
    post: Option<Post>,
}

/// A named value.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Param {
    /// What expressions and templates call it. A later parameter of the same name replaces the earlier.
    name: String,
    /// Where it comes from.
    source: Source,
    /// What a value that was looked up or read is converted to.
    r#type: Option<ParamType>,
    /// Without a value, the event fails.
    required: Option<bool>,
    /// Used when there is no value or an empty text, or when an optional source fails.
    default: Option<Json>,
    /// For people.
    description: Option<String>,
}

/// Where a value comes from: a path as a text, or one of the keys.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Source {
    /// `env.X`, `event.a.b`, `config.a.b`, `earlier.a.b`, `secret.NAMESPACE.NAME.KEY` or `configmap.NAMESPACE.NAME.KEY`.
    Path(String),
    From(Box<SourceFrom>),
}

/// Exactly one of these.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("minProperties" = 1, "maxProperties" = 1))]
struct SourceFrom {
    /// The answer to a call. One that finds nothing (404) leaves an optional parameter without value.
    api_call: Option<ApiCall>,
    /// A CEL expression over the values before it.
    expression: Option<String>,
    /// The content of a file.
    file: Option<FileSource>,
    /// A value of a Secret on the target. It, and what is computed from it, is never shown.
    secret: Option<Held>,
    /// A value of a ConfigMap on the target.
    configmap: Option<Held>,
}

/// A file on the adapter's own disk.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct FileSource {
    /// An absolute path.
    path: String,
    /// Remove white space at both ends; true if it is left out.
    trim: Option<bool>,
}

/// A value that an object on the target holds.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Held {
    /// A template.
    namespace: String,
    /// A template.
    name: String,
    /// A template.
    key: String,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum ParamType {
    String,
    Int,
    Int64,
    Float,
    Float64,
    Bool,
}

/// A call to the HyperFleet API, or to any URL.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct ApiCall {
    /// GET if it is left out.
    method: Option<Method>,
    /// A template. A relative URL is below `/api/hyperfleet/<version>/`; the token goes to the API's own origin only.
    url: String,
    /// Sent with it.
    headers: Option<Vec<Header>>,
    /// A template.
    body: Option<String>,
    /// Bounds one attempt.
    timeout: Option<GoDuration>,
    /// Attempts in total.
    retry_attempts: Option<u32>,
    /// How waits between attempts grow.
    retry_backoff: Option<crate::config::RetryBackoff>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "UPPERCASE")]
enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// A header of a call.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Header {
    name: String,
    /// A template.
    value: Text,
}

/// A line in the log.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Log {
    /// A template.
    message: String,
    /// `info` if it is left out.
    level: Option<Level>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum Level {
    Debug,
    Info,
    Warn,
    Warning,
    Error,
}

/// A question that is answered with yes or no.
#[derive(JsonSchema)]
#[schemars(
    deny_unknown_fields,
    extend("anyOf" = [{"required": ["expression"]}, {"required": ["conditions"]}])
)]
struct When {
    /// A CEL expression that is true or false.
    expression: Option<String>,
    /// All of these hold.
    conditions: Option<Vec<Condition>>,
    /// For people.
    description: Option<String>,
}

/// A comparison of one value.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Condition {
    /// A path into a value: `cluster.spec.region`.
    field: String,
    /// How it is compared.
    operator: Operation,
    /// What it is compared with; `exists` and `notExists` need nothing.
    value: Option<Json>,
    /// The same as `value`.
    values: Option<Json>,
    /// For people.
    description: Option<String>,
}

/// The operators as the language has them.
struct Operation;

impl JsonSchema for Operation {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Operator".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": Operator::ALL.map(Operator::name)})
    }
}

/// A text, or a number or truth value that is taken as one.
struct Text;

impl JsonSchema for Text {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Text".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "number", "boolean"]})
    }
}

/// Something that must hold before anything is applied. One that cannot be evaluated, because a value is not there yet,
/// is not met.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Precondition {
    /// Said in the report when it is not met.
    #[schemars(regex(pattern = r"^[a-z][a-zA-Z0-9_]*$"))]
    name: String,
    /// Said before it is judged.
    log: Option<Log>,
    /// A CEL expression that is true or false.
    expression: Option<String>,
    /// All of these hold.
    conditions: Option<Vec<Condition>>,
    /// The older way to fetch something; the place for it is a parameter.
    api_call: Option<ApiCall>,
    /// Values taken from the answer of `api_call`.
    capture: Option<Vec<Capture>>,
    /// Fetches a resource under the name `output_param`.
    r#type: Option<FetchType>,
    /// With `type`: the kind, `cluster`.
    resource: Option<String>,
    /// With `type`: a template.
    id: Option<String>,
    /// With `type`: what it is called.
    output_param: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
enum FetchType {
    HyperfleetApi,
}

/// A value taken from an answer.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Capture {
    /// What it is called.
    name: String,
    /// A path into the answer.
    field: Option<String>,
    /// A CEL expression over the keys of the answer.
    expression: Option<String>,
    /// Used when there is no value.
    default: Option<Json>,
}

/// An object to keep on the target.
#[derive(JsonSchema)]
#[schemars(
    deny_unknown_fields,
    extend("anyOf" = [{"required": ["name"]}, {"required": ["alias"]}])
)]
struct Resource {
    /// `resources.<name>` in expressions.
    #[schemars(regex(pattern = r"^[a-z][a-zA-Z0-9_]*$"))]
    name: Option<String>,
    /// The same as `name`.
    #[schemars(regex(pattern = r"^[a-z][a-zA-Z0-9_]*$"))]
    alias: Option<String>,
    /// Where it lives.
    transport: Option<Transport>,
    /// A mapping whose texts are templates; a text that is rendered before it is read; or `ref: FILE`, the same from a
    /// file. `apiVersion` and `kind` are literal. Without one it can be patched, detached and deleted, not created.
    manifest: Option<Manifest>,
    /// How it is found. Without it: by the manifest's name.
    discovery: Option<Discovery>,
    /// Objects inside `spec.workload.manifests` of this one, with their feedback.
    nested_discoveries: Option<Vec<Nested>>,
    /// Replace rather than update when the generation changes, as Jobs need.
    recreate_on_change: Option<bool>,
    /// The resource that owns it on the cluster: it goes when that one goes.
    owner: Option<Owner>,
    /// Keep old versions beside the new one, and for how long.
    retention: Option<Retention>,
    /// Unless this holds, nothing is modified. Deletion and letting go are not held up by it.
    when: Option<When>,
    /// What happens to it after it was first applied.
    lifecycle: Option<Lifecycle>,
    /// Dangerous powers that its manifest may ask for. What is not named is refused.
    allow: Option<Vec<Power>>,
}

/// A power by which a workload leaves its place.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
enum Power {
    /// A container with all powers of the machine.
    Privileged,
    /// A directory of the machine.
    HostPath,
    /// The machine's network.
    HostNetwork,
    /// The machine's processes or memory.
    HostProcesses,
    /// A binding to `cluster-admin`, or a role that allows everything.
    ClusterAdmin,
}

/// Where objects live.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Transport {
    /// `kubernetes`, unless it is said; `maestro` hands a ManifestWork to a Maestro server.
    client: Option<TransportClient>,
    /// Required with `client: maestro`; otherwise only checked, for a file may be written for both.
    maestro: Option<Maestro>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum TransportClient {
    Kubernetes,
    Maestro,
}

/// Where a work goes.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Maestro {
    /// Which cluster it is for, as Maestro knows it (a consumer); a template.
    target_cluster: String,
}

/// What an object should look like.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Manifest {
    /// Rendered before it is read.
    Text(String),
    /// Its texts are templates; or `ref: FILE`.
    Structure(Map<String, Json>),
}

/// How existing objects are found: by `by_name` or by `by_selectors`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Discovery {
    /// For a resource without manifest, together with `kind`.
    api_version: Option<String>,
    /// For a resource without manifest.
    kind: Option<String>,
    /// A template; `*` or nothing is everywhere.
    namespace: Option<String>,
    /// A template.
    by_name: Option<Text>,
    /// All that match; the one of this generation counts, else the newest.
    by_selectors: Option<Selectors>,
}

/// What objects must carry.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Selectors {
    /// Labels and their values, both templates.
    #[schemars(extend("minProperties" = 1))]
    label_selector: BTreeMap<String, Text>,
}

/// An object inside another one.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Nested {
    /// `resources.<name>` in expressions.
    #[schemars(regex(pattern = r"^[a-z][a-zA-Z0-9_]*$"))]
    name: String,
    /// How it is found.
    discovery: NestedDiscovery,
}

/// How an object inside another one is found: by `by_name` or by `by_selectors`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct NestedDiscovery {
    /// A template; `*` or nothing is everywhere.
    namespace: Option<String>,
    /// A template.
    by_name: Option<Text>,
    /// All that match.
    by_selectors: Option<Selectors>,
}

/// An owner on the cluster.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Owner {
    /// The name of an earlier resource, in the same namespace or in none.
    resource: String,
}

/// How many old versions are kept, and for how long. Either rule alone removes one; the current version never goes.
#[derive(JsonSchema)]
#[schemars(
    deny_unknown_fields,
    extend("minProperties" = 1)
)]
struct Retention {
    /// The most old versions that are kept; the oldest go first.
    history_limit: Option<u32>,
    /// Old versions that were created longer ago go.
    ttl: Option<GoDuration>,
}

/// What happens to an object after it was first applied. A gate that cannot be answered touches nothing.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Lifecycle {
    /// It is created or updated only if this holds.
    apply: Option<Gate>,
    /// While it does not exist, it is created only if this holds.
    create: Option<Gate>,
    /// Changes to parts of it. If one is sent, nothing is applied.
    patch: Option<Vec<PatchGate>>,
    /// It is replaced, or with `retention` made again beside the old one.
    recreate: Option<Gate>,
    /// It stays and is not ours any more. Comes before `delete`.
    detach: Option<Gate>,
    /// The same as `detach`.
    orphan: Option<Gate>,
    /// All its versions go.
    delete: Option<DeleteGate>,
}

/// When something happens.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Gate {
    when: When,
}

/// A change to parts of an object.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct PatchGate {
    /// It is sent while this holds.
    when: When,
    /// A merge patch (RFC 7396) whose texts are templates; null removes.
    #[schemars(extend("minProperties" = 1))]
    document: Map<String, Json>,
}

/// When an object goes, and what happens to what it owns.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct DeleteGate {
    when: When,
    /// `Background` if it is left out.
    propagation_policy: Option<Propagation>,
}

/// What happens to what an object owns.
#[derive(JsonSchema)]
enum Propagation {
    Background,
    Foreground,
    Orphan,
}

/// What is reported, and to whom.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Post {
    /// Documents, built in order.
    payloads: Option<Vec<Payload>>,
    /// What is done with them, in order.
    post_actions: Option<Vec<PostAction>>,
}

/// A document: `build` or `build_ref`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Payload {
    /// What templates call it.
    name: String,
    /// It is built only if this holds.
    when: Option<When>,
    /// Texts are templates; a mapping with `field` or `expression` (and `default`) is a computed value; everything else
    /// is as written.
    build: Option<Map<String, Json>>,
    /// The same from a file beside this one.
    build_ref: Option<String>,
}

/// Something that is done at the end.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct PostAction {
    #[schemars(regex(pattern = r"^[a-z][a-zA-Z0-9_]*$"))]
    name: String,
    /// It is done only if this holds. One whose payload was left out is left out too.
    when: Option<When>,
    /// Said before it is done.
    log: Option<Log>,
    /// The body is usually `"{{ .payloadName }}"`.
    api_call: Option<ApiCall>,
}

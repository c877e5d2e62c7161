//! Whatever is configured, whatever happens in whichever order, and whichever calls fail on the way: what may never
//! happen to an object, never does.

mod simulation;

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, TimeZone, Utc};
use hyperfleet_adapter::config::Identity;
use hyperfleet_adapter::plan::{Action, Operation};
use hyperfleet_adapter::stamp::{ADAPTER, ALIAS, GENERATION, OWNERSHIP, RESOURCE_ID, is_marked};
use hyperfleet_adapter::{Engine, Outcome, Run};
use hyperfleet_core::ownership::{Key, Keyring};
use hyperfleet_sweeper::{Absence, Answer, Verdict, judge};
use hyperfleet_transport::{Target, Unconnected};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::world::{compiled, condition, event};
use simulation::{Cluster, Fault, OneResource, is_going, is_signed};

const ID: &str = "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b";
const GATES: [&str; 6] = ["when", "apply", "create", "recreate", "patch", "detach"];
const ALIASES: [&str; 2] = ["first", "second"];

/// What an adapter's author may choose.
#[derive(Clone, Debug)]
struct Choices {
    /// Each version has a name of its own, as `retention` asks for.
    versioned: bool,
    limit: Option<u32>,
    ttl: bool,
    recreate_on_change: bool,
    /// The second belongs to the first.
    owned: bool,
    /// The first waits for the second to go.
    ordered: bool,
}

impl Choices {
    fn task(&self) -> String {
        let retention = match (self.limit, self.ttl) {
            (None, false) => String::new(),
            (limit, ttl) => {
                let limit = limit.map(|limit| format!("historyLimit: {limit}, "));
                let ttl = if ttl { "ttl: 48h" } else { "" };
                format!("    retention: {{{}{ttl}}}\n", limit.unwrap_or_default())
            }
        };
        let gate = |name: &str| format!("{{when: {{expression: cluster.spec.gates.{name}}}}}");
        let mut text = r#"
params:
  - {name: clusterId, source: event.id, required: true}
  - name: cluster
    source: {api_call: {method: GET, url: "clusters/{{ .clusterId }}"}}
    required: true
resources:
"#
        .to_owned();
        for alias in ALIASES {
            let suffix = match self.versioned {
                true => "-{{ .cluster.generation }}-{{ .cluster.spec.run }}",
                false => "",
            };
            let owner = match self.owned && alias == "second" {
                true => "    owner: {resource: first}\n",
                false => "",
            };
            let after = match self.ordered && alias == "first" {
                true => " && !resources.?second.hasValue()",
                false => "",
            };
            text.push_str(&format!(
                r#"  - name: {alias}
    when: {{expression: cluster.spec.gates.when}}
    recreate_on_change: {recreate_on_change}
{retention}{owner}    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata: {{name: "{alias}{suffix}", namespace: default}}
      data: {{generation: "{{{{ .cluster.generation }}}}"}}
    discovery:
      namespace: default
      by_selectors:
        label_selector: {{hyperfleet.io/resource-id: "{{{{ .clusterId }}}}"}}
    lifecycle:
      apply: {apply}
      create: {create}
      recreate: {recreate}
      detach: {detach}
      delete: {{when: {{expression: "is_deleting && cluster.spec.gates.delete{after}"}}}}
      patch:
        - when: {{expression: cluster.spec.gates.patch}}
          document: {{metadata: {{annotations: {{patched: "yes"}}}}}}
"#,
                recreate_on_change = self.recreate_on_change,
                apply = gate("apply"),
                create = gate("create"),
                recreate = gate("recreate"),
                detach = gate("detach"),
            ));
        }
        text
    }

    fn keeps_old(&self) -> bool {
        self.limit.is_some() || self.ttl
    }
}

/// What happens next.
#[derive(Clone, Debug)]
enum Step {
    /// The owner's spec changes.
    Change,
    /// Gates open and close; one that is not there cannot be answered.
    Gates(Vec<Option<bool>>),
    Delete,
    /// An event, with what becomes of the calls it leads to.
    Event(Vec<Option<Fault>>),
    Hours(i64),
    /// Somebody does something to one of the objects.
    Tamper(usize, Tampering),
    /// Nothing holds on to what is being deleted.
    Release,
}

#[derive(Clone, Copy, Debug)]
enum Tampering {
    Data,
    Finalizer,
    Unlabel,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let fault = prop::option::weighted(
        0.15,
        prop::sample::select(vec![Fault::Lost, Fault::Unheard, Fault::Refused]),
    );
    let gates = prop::collection::vec(
        prop::option::weighted(0.95, prop::bool::weighted(0.5)),
        GATES.len(),
    );
    let tampering = prop::sample::select(vec![
        Tampering::Data,
        Tampering::Finalizer,
        Tampering::Unlabel,
    ]);
    let step = prop_oneof![
        2 => Just(Step::Change),
        2 => gates.prop_map(Step::Gates),
        1 => Just(Step::Delete),
        8 => prop::collection::vec(fault, 0..14).prop_map(Step::Event),
        1 => (1_i64..80).prop_map(Step::Hours),
        2 => (any::<usize>(), tampering).prop_map(|(index, how)| Step::Tamper(index, how)),
        1 => Just(Step::Release),
    ];
    prop::collection::vec(step, 1..20)
}

fn choices() -> impl Strategy<Value = Choices> {
    let limit = prop::option::of(0_u32..3);
    (any::<[bool; 5]>(), limit).prop_map(|(coins, limit)| Choices {
        versioned: coins[0] || limit.is_some() || coins[1],
        limit,
        ttl: coins[1],
        recreate_on_change: coins[2],
        owned: coins[3],
        ordered: coins[4],
    })
}

struct World {
    choices: Choices,
    cluster: Arc<Cluster>,
    api: OneResource,
    engine: Engine,
    keys: Arc<Keyring>,
    now: DateTime<Utc>,
    owner: Json,
}

impl World {
    fn new(choices: Choices) -> World {
        let cluster = Arc::new(Cluster::default());
        let api = OneResource::default();
        let keys = Arc::new(Keyring {
            current: Key::new(&[7; 32]).unwrap(),
            previous: None,
        });
        let engine = Engine {
            task: Arc::new(compiled(&choices.task())),
            identity: Identity {
                name: "dns".to_owned(),
                version: String::new(),
            },
            config: Arc::new(json!({})),
            env: BTreeMap::new(),
            api: Arc::new(api.clone()),
            transport: Arc::clone(&cluster) as _,
            maestro: Arc::new(Unconnected(Target::Maestro)),
            metrics: None,
            keys: Some(Arc::clone(&keys)),
        };
        let gates: serde_json::Map<String, Json> = GATES
            .iter()
            .map(|gate| {
                (
                    (*gate).to_owned(),
                    json!(["when", "apply", "create"].contains(gate)),
                )
            })
            .chain([("delete".to_owned(), json!(true))])
            .collect();
        World {
            choices,
            cluster,
            api,
            engine,
            keys,
            now: Utc.with_ymd_and_hms(2026, 1, 31, 12, 0, 0).unwrap(),
            owner: json!({"id": ID, "kind": "Cluster", "name": "blue", "generation": 1,
                "spec": {"run": 1, "gates": gates}}),
        }
    }

    fn is_deleting(&self) -> bool {
        self.owner["deleted_time"].is_string()
    }

    fn delete(&mut self) {
        if !self.is_deleting() {
            self.changed();
            self.owner["deleted_time"] = json!(self.now.to_rfc3339());
        }
    }

    fn changed(&mut self) {
        let generation = self.owner["generation"].as_i64().unwrap();
        self.owner["generation"] = json!(generation + 1);
    }

    async fn handle(&mut self, faults: &[Option<Fault>]) -> Run {
        self.now += TimeDelta::seconds(1);
        // A new version at the same generation needs a name of its own.
        let runs = self.owner["spec"]["run"].as_i64().unwrap();
        self.owner["spec"]["run"] = json!(runs + 1);
        *self.api.resource.lock().unwrap() = Some(self.owner.clone());
        self.cluster.is_at(self.now);
        self.cluster.will_fail(faults);
        let generation = self.owner["generation"].as_i64().unwrap();
        let run = self.engine.handle(&event(ID, generation), self.now).await;
        self.cluster.will_fail(&[]);
        run
    }

    /// The versions of a resource that are not on their way out.
    fn live(&self, alias: &str) -> Vec<Json> {
        let mut objects = self.cluster.objects();
        objects.retain(|object| {
            let metadata = &object["metadata"];
            metadata["annotations"][ALIAS] == alias
                && metadata["labels"][RESOURCE_ID] == ID
                && metadata["labels"][ADAPTER] == "dns"
                && !is_going(object)
        });
        objects
    }

    fn signed(&self) -> Vec<Json> {
        let mut objects = self.cluster.objects();
        objects.retain(|object| is_signed(object, &self.keys));
        objects
    }

    async fn step(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match step {
            Step::Change => self.changed(),
            Step::Gates(gates) => {
                for (name, open) in GATES.iter().zip(gates) {
                    let all = self.owner["spec"]["gates"].as_object_mut().unwrap();
                    match open {
                        Some(open) => drop(all.insert((*name).to_owned(), json!(open))),
                        None => drop(all.remove(*name)),
                    }
                }
            }
            Step::Delete => self.delete(),
            Step::Hours(hours) => self.now += TimeDelta::hours(*hours),
            Step::Release => self.cluster.release(),
            Step::Tamper(index, how) => self.cluster.tamper(*index, |object| {
                let metadata = &mut object["metadata"];
                if metadata["annotations"][ALIAS].is_null() {
                    return;
                }
                match how {
                    Tampering::Data => object["data"]["generation"] = json!("other"),
                    Tampering::Finalizer => metadata["finalizers"] = json!(["example.com/hold"]),
                    Tampering::Unlabel => {
                        drop(metadata["labels"].as_object_mut().unwrap().remove(ADAPTER));
                        drop(
                            metadata["labels"]
                                .as_object_mut()
                                .unwrap()
                                .remove(RESOURCE_ID),
                        );
                    }
                }
            }),
            Step::Event(faults) => {
                let before = self.cluster.objects();
                let run = self.handle(faults).await;
                self.hold_after(&run, &before)?;
            }
        }
        Ok(())
    }

    /// A gate that is closed, or that cannot be answered, lets nothing through.
    fn allows(&self, operation: &Operation) -> Result<(), TestCaseError> {
        let needed: &[&str] = match operation.action {
            Action::Detach => &["detach"],
            Action::Delete => &["delete"],
            Action::Patch => &["when", "patch"],
            Action::Create | Action::Update => &["when"],
            _ => &[],
        };
        for gate in needed {
            let open = &self.owner["spec"]["gates"][*gate];
            prop_assert_eq!(open, &json!(true), "{} for {:?}", gate, operation);
        }
        Ok(())
    }

    /// What must be so after every event, however it went.
    fn hold_after(&self, run: &Run, before: &[Json]) -> Result<(), TestCaseError> {
        let deletions = self.cluster.take_deletions();
        let clean = run.fault.is_none() && matches!(run.outcome, Outcome::Done(_));
        let after = self.cluster.objects();
        let uid = |object: &Json| object["metadata"]["uid"].as_str().map(str::to_owned);
        let there = |wanted: &str| {
            after
                .iter()
                .find(|object| object["metadata"]["uid"] == wanted)
        };
        for alias in ALIASES {
            let live = self.live(alias);
            if !self.choices.keeps_old() {
                prop_assert!(live.len() <= 1, "two versions of {alias}: {live:?}");
            }
            let operations = run.operations.iter().filter(|one| one.resource == alias);
            let mut allowed = Vec::new();
            for operation in operations {
                self.allows(operation)?;
                let targets = operation.targets.iter().filter_map(|one| one.uid.clone());
                let targets: Vec<String> = targets.collect();
                match operation.action {
                    Action::Delete => {
                        prop_assert!(self.is_deleting());
                        prop_assert!(!clean || live.is_empty(), "{alias} was spared: {live:?}");
                        allowed.extend(targets);
                    }
                    Action::Prune => {
                        let context = run.context.as_ref().unwrap();
                        let current = context.resource(alias).and_then(uid).unwrap();
                        prop_assert!(
                            !targets.contains(&current),
                            "the current {alias} was pruned"
                        );
                        prop_assert!(there(&current).is_some_and(|one| !is_going(one)));
                        allowed.extend(targets);
                    }
                    Action::Recreate => {
                        prop_assert!(!self.choices.keeps_old());
                        allowed.extend(targets);
                    }
                    Action::Detach if clean => {
                        for target in &targets {
                            let left = there(target);
                            prop_assert!(left.is_some_and(|one| !is_marked(one)), "{left:?}");
                        }
                    }
                    Action::Create | Action::Update | Action::Skip if clean => {
                        prop_assert!(!self.is_deleting());
                        let context = run.context.as_ref().unwrap();
                        let current = context.resource(alias).and_then(uid);
                        let newest = live.iter().max_by_key(|one| {
                            let text = |value: &Json| value.as_str().map(str::to_owned);
                            let generation = &one["metadata"]["annotations"][GENERATION];
                            let generation =
                                text(generation).and_then(|one| one.parse::<i64>().ok());
                            (generation, text(&one["metadata"]["creationTimestamp"]))
                        });
                        prop_assert_eq!(current, newest.and_then(uid), "which {} counts", alias);
                    }
                    _ => {}
                }
            }
            let of_alias = |wanted: &String| {
                let mut all = before.iter().chain(&after);
                all.any(|one| {
                    one["metadata"]["uid"] == wanted.as_str()
                        && one["metadata"]["annotations"][ALIAS] == alias
                })
            };
            for gone in deletions.iter().filter(|gone| of_alias(gone)) {
                prop_assert!(
                    allowed.contains(gone),
                    "{gone} of {alias} was deleted by no operation that may: {:?}",
                    run.operations
                );
            }
        }
        Ok(())
    }

    /// The rest of a deletion with nothing in its way, until the adapter says that it is done.
    async fn finish(&mut self, lets_go: bool) -> Result<(), TestCaseError> {
        self.delete();
        for gate in GATES {
            self.owner["spec"]["gates"][gate] = json!(gate == "detach" && lets_go);
        }
        for _ in 0..6 {
            self.cluster.release();
            let before = self.cluster.objects();
            let run = self.handle(&[]).await;
            self.hold_after(&run, &before)?;
            let report = self.api.report.lock().unwrap().clone().unwrap();
            if condition(&report, "Finalized").0 == "True" {
                prop_assert!(self.signed().is_empty(), "{:?}", self.signed());
                return Ok(());
            }
        }
        Err(TestCaseError::fail("the deletion never came to its end"))
    }

    /// Removed without asking the adapter: an event that is late touches nothing, and the sweeper takes what is proven.
    async fn sweep(&mut self) -> Result<(), TestCaseError> {
        self.cluster.release();
        *self.api.resource.lock().unwrap() = None;
        let writes = self.cluster.writes();
        self.engine.handle(&event(ID, 1), self.now).await;
        prop_assert_eq!(self.cluster.writes(), writes);
        let record = serde_json::from_value(json!({"id": ID, "kind": "Cluster", "name": "blue",
            "generation": 1, "removed_time": self.now, "removed_by": "me", "how": "forced"}));
        let answer = Answer::Removed(Box::new(record.unwrap()));
        for object in self.cluster.objects() {
            let verdict = judge(&object, Some(&self.keys), &answer, Absence::ProvesNothing);
            let swept = matches!(verdict, Verdict::Sweep(_));
            prop_assert_eq!(swept, is_signed(&object, &self.keys), "{}", object);
            if swept {
                self.cluster.remove(&object);
            }
        }
        prop_assert!(self.signed().is_empty());
        Ok(())
    }
}

/// Somebody else's: of another adapter, and two with a signature that was copied, of nobody and of our owner.
fn strangers(copied: &str) -> [Json; 3] {
    let object = |kind: &str, name: &str, labels: Json, annotations: Json| {
        json!({"apiVersion": "v1", "kind": kind, "metadata": {
            "name": name, "namespace": "default", "uid": name,
            "labels": labels, "annotations": annotations}})
    };
    let theirs = json!({ADAPTER: "other", RESOURCE_ID: ID});
    let of_nobody = json!({ADAPTER: "dns", RESOURCE_ID: "somebody"});
    let of_our_owner = json!({ADAPTER: "dns", RESOURCE_ID: ID});
    let signature = json!({OWNERSHIP: copied});
    [
        object("ConfigMap", "theirs", theirs, json!({})),
        object("ConfigMap", "forged", of_nobody, signature.clone()),
        object("Secret", "copied", of_our_owner, signature),
    ]
}

/// How it ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Deleted,
    LetGo,
    Forced,
}

proptest! {
    #[test]
    fn no_sequence_of_events_and_faults_leads_where_no_event_may(
        choices in choices(),
        steps in steps(),
        end in prop::sample::select(vec![End::Deleted, End::LetGo, End::Forced]),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut world = World::new(choices);
            world.handle(&[]).await;
            let copied = world.signed()[0]["metadata"]["annotations"][OWNERSHIP].clone();
            let strangers = strangers(copied.as_str().unwrap());
            for stranger in &strangers {
                world.cluster.put(stranger.clone());
            }
            for step in &steps {
                world.step(step).await?;
            }
            match end {
                End::Deleted => world.finish(false).await?,
                End::LetGo => world.finish(true).await?,
                End::Forced => world.sweep().await?,
            }
            for stranger in &strangers {
                prop_assert!(world.cluster.objects().contains(stranger), "{}", stranger);
            }
            Ok(())
        })?;
    }
}

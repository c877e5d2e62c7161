//! What a real apiserver wrote down: who made each object, for whom, and who deleted it.
//!
//! The observer samples; this is complete. Who is who is told by the user agent, for whom by the labels of what was
//! written (of Secrets nothing is written down but their names: they belong to the cluster whose namespace they are in).

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::{Context, Result};
use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::kubernetes::{AGENT, RESOURCE_ID};
use crate::ledger::Known;

const ADAPTER: &str = "hyperfleet-adapter/";
const SWEEPER: &str = "hyperfleet-sweeper";
/// The garbage collector, and whoever empties a namespace that is going.
const CONTROLLERS: &str = "kube-controller-manager";

/// What adapters make. What becomes of it (pods of a Job, events) is Kubernetes' own.
const MADE: [&str; 6] = [
    "namespaces",
    "secrets",
    "configmaps",
    "jobs",
    "hostedclusters",
    "nodepools",
];

/// Resource, namespace and name.
type Object = (String, String, String);

/// One successful write.
struct Write<'l> {
    object: Object,
    verb: &'l str,
    agent: &'l str,
    at: DateTime<Utc>,
    /// The id in the label of what was written.
    owner: Option<&'l str>,
}

/// Who made an object last, for whom, and when.
struct Made {
    agent: String,
    owner: String,
    at: DateTime<Utc>,
}

/// Reads the log and tells every deletion that should not have been, and how many there were.
pub fn check(log: &Path, known: &BTreeMap<String, Known>) -> Result<(Vec<String>, usize)> {
    let text = std::fs::read_to_string(log).with_context(|| log.display().to_string())?;
    // A server that was killed leaves half a line.
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut lines: Vec<Value> = lines.collect();
    lines.sort_by_cached_key(|line| line["requestReceivedTimestamp"].as_str().map(str::to_owned));
    let mut made: HashMap<Object, Made> = HashMap::new();
    let (mut wrong, mut deletions) = (Vec::new(), 0);
    for write in lines.iter().filter_map(write) {
        if write.verb == "delete" || write.verb == "deletecollection" {
            deletions += 1;
            wrong.extend(judge(&write, &made, known).map(|complaint| {
                let (resource, namespace, name) = &write.object;
                format!(
                    "{resource} {namespace}/{name} was deleted by {} at {}: {complaint}",
                    write.agent, write.at
                )
            }));
        } else if write.agent.starts_with(ADAPTER) {
            let owner = write.owner.unwrap_or(&write.object.1).to_owned();
            let (agent, at) = (write.agent.to_owned(), write.at);
            made.insert(write.object, Made { agent, owner, at });
        }
    }
    Ok((wrong, deletions))
}

fn write(line: &Value) -> Option<Write<'_>> {
    let object = &line["objectRef"];
    let text = |key: &str| object[key].as_str().unwrap_or_default().to_owned();
    let succeeded = (200..300).contains(&line["responseStatus"]["code"].as_u64()?);
    let of_itself = object.get("subresource").is_none();
    let of_ours = MADE.iter().any(|made| object["resource"] == *made);
    (succeeded && of_itself && of_ours).then_some(())?;
    // The namespace of a Namespace is itself.
    let namespace = match text("namespace") {
        empty if empty.is_empty() => text("name"),
        namespace => namespace,
    };
    Some(Write {
        object: (text("resource"), namespace, text("name")),
        verb: line["verb"].as_str()?,
        agent: line["userAgent"].as_str().unwrap_or_default(),
        at: line["requestReceivedTimestamp"].as_str()?.parse().ok()?,
        owner: line["requestObject"]["metadata"]["labels"][RESOURCE_ID].as_str(),
    })
}

/// What is wrong with a deletion.
fn judge(
    write: &Write<'_>,
    made: &HashMap<Object, Made>,
    known: &BTreeMap<String, Known>,
) -> Option<String> {
    if write.agent == AGENT {
        return None;
    }
    let maker = made.get(&write.object);
    // What no adapter made is none of ours, unless it is in the namespace of a cluster.
    let owner = maker.map_or(write.object.1.as_str(), |made| made.owner.as_str());
    let one = known.get(owner)?;
    let wanted = one.deletion_asked.is_none_or(|asked| write.at < asked);
    if write.agent.starts_with(CONTROLLERS) || write.agent == SWEEPER {
        return wanted.then(|| format!("{owner} was wanted"));
    }
    if !write.agent.starts_with(ADAPTER) {
        return Some("nobody of that name deletes".to_owned());
    }
    match maker {
        Some(made) if made.agent != write.agent => Some(format!("{} had made it", made.agent)),
        _ if !wanted || is_outlived(write, made) => None,
        _ => Some(format!("{owner} was wanted")),
    }
}

/// A Job goes when there are newer ones: retention.
fn is_outlived(write: &Write<'_>, made: &HashMap<Object, Made>) -> bool {
    let (resource, namespace, name) = &write.object;
    let Some((stem, generation)) = generation(name) else {
        return false;
    };
    resource == "jobs"
        && made.iter().any(|((kind, place, other), newer)| {
            kind == resource
                && place == namespace
                && newer.at < write.at
                && generation_of(stem, other).is_some_and(|other| other > generation)
        })
}

fn generation_of(stem: &str, name: &str) -> Option<i64> {
    let (other, number) = generation(name)?;
    (other == stem).then_some(number)
}

/// `validation-gen3` is the third of `validation`.
fn generation(name: &str) -> Option<(&str, i64)> {
    let (stem, number) = name.rsplit_once("-gen")?;
    Some((stem, number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use serde_json::json;

    use super::*;

    const CLUSTER: &str = "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b";

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(1_800_000_000 + seconds)
    }

    fn line(seconds: i64, agent: &str, verb: &str, resource: &str, name: &str) -> Value {
        json!({"verb": verb, "userAgent": agent, "requestReceivedTimestamp": at(seconds).to_rfc3339(),
            "responseStatus": {"code": 200}, "objectRef": {"resource": resource, "namespace": CLUSTER, "name": name},
            "requestObject": {"metadata": {"labels": {RESOURCE_ID: CLUSTER}}}})
    }

    /// What is wrong in a log about a cluster that was to be deleted at second 100.
    fn wrong(lines: &[Value]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("audit.log");
        let text: Vec<String> = lines.iter().map(Value::to_string).collect();
        std::fs::write(&log, text.join("\n") + "\n{\"half\": ").unwrap();
        let one = Known {
            plural: "clusters",
            name: "one".to_owned(),
            spec: json!({}),
            generation: 1,
            maybe: Vec::new(),
            deletion_asked: Some(at(100)),
            deleted: true,
            forced: false,
        };
        let known = BTreeMap::from([(CLUSTER.to_owned(), one)]);
        check(&log, &known).unwrap().0
    }

    fn made() -> Value {
        line(1, "hyperfleet-adapter/dns", "patch", "configmaps", "dns")
    }

    #[test]
    fn its_maker_may_delete_an_object_once_its_owner_is_to_go_and_not_before() {
        let by = |agent: &str, seconds| {
            let deleted = line(seconds, agent, "delete", "configmaps", "dns");
            wrong(&[made(), deleted]).len()
        };
        assert_eq!(by("hyperfleet-adapter/dns", 101), 0);
        assert_eq!(by("hyperfleet-adapter/dns", 99), 1, "wanted");
        assert_eq!(by("hyperfleet-adapter/placement", 101), 1, "not its maker");
        assert_eq!(by("hyperfleet-sweeper", 101), 0);
        assert_eq!(by("hyperfleet-sweeper", 99), 1, "wanted");
        assert_eq!(by("kube-controller-manager/v1.36.0", 99), 1, "wanted");
        assert_eq!(by("curl/8.0", 101), 1, "a stranger");
        assert_eq!(by(AGENT, 50), 0, "the test itself");
    }

    #[test]
    fn a_job_may_go_when_a_newer_one_is_there() {
        let adapter = "hyperfleet-adapter/dns";
        let job = |seconds, verb, name| line(seconds, adapter, verb, "jobs", name);
        let (old, new) = (job(1, "patch", "dns-gen1"), job(5, "patch", "dns-gen2"));
        let gone = job(6, "delete", "dns-gen1");
        assert_eq!(wrong(&[old.clone(), new.clone(), gone.clone()]).len(), 0);
        assert_eq!(wrong(&[old.clone(), gone]).len(), 1, "it is the newest");
        let too_new = job(6, "delete", "dns-gen2");
        assert_eq!(wrong(&[old, new, too_new]).len(), 1);
    }
}

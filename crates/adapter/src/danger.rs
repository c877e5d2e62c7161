//! What an object must not ask for unless its configuration says so by name: the powers by which a workload leaves its
//! place and takes over the machine or the cluster.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value as Json;

/// A power that is refused unless it is allowed by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Danger {
    /// A container with all powers of the machine.
    Privileged,
    /// A directory of the machine.
    HostPath,
    /// The machine's network.
    HostNetwork,
    /// The machine's processes or memory.
    HostProcesses,
    /// Every right in the cluster: a binding to `cluster-admin`, or a role that allows everything.
    ClusterAdmin,
}

impl Danger {
    pub(crate) const ALL: [Danger; 5] = [
        Danger::Privileged,
        Danger::HostPath,
        Danger::HostNetwork,
        Danger::HostProcesses,
        Danger::ClusterAdmin,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Danger::Privileged => "privileged",
            Danger::HostPath => "hostPath",
            Danger::HostNetwork => "hostNetwork",
            Danger::HostProcesses => "hostProcesses",
            Danger::ClusterAdmin => "clusterAdmin",
        }
    }

    pub(crate) fn named(text: &str) -> Option<Danger> {
        Danger::ALL
            .into_iter()
            .find(|danger| danger.as_str() == text)
    }

    /// What an object asks for, at any depth: workloads are carried inside other objects.
    pub(crate) fn of(object: &Json) -> BTreeSet<Danger> {
        let mut found = BTreeSet::new();
        look(object, &mut found);
        found
    }
}

impl fmt::Display for Danger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

fn look(value: &Json, found: &mut BTreeSet<Danger>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| look(item, found)),
        Json::Object(fields) => {
            for (key, value) in fields {
                found.extend(danger(key, value));
                look(value, found);
            }
            if is_all_powerful(value) {
                found.insert(Danger::ClusterAdmin);
            }
        }
        _ => {}
    }
}

fn danger(key: &str, value: &Json) -> Option<Danger> {
    // A text may be what a template gave where a flag was meant.
    let on = *value == Json::Bool(true) || value.as_str() == Some("true");
    match key {
        "privileged" if on => Some(Danger::Privileged),
        "hostPath" if !value.is_null() => Some(Danger::HostPath),
        "hostNetwork" if on => Some(Danger::HostNetwork),
        "hostPID" | "hostIPC" if on => Some(Danger::HostProcesses),
        "roleRef" if value["name"] == "cluster-admin" => Some(Danger::ClusterAdmin),
        _ => None,
    }
}

/// A rule that allows every verb on everything.
fn is_all_powerful(rule: &Json) -> bool {
    let all = |key: &str| {
        rule[key]
            .as_array()
            .is_some_and(|listed| listed.iter().any(|one| one == "*"))
    };
    all("verbs") && all("resources") && all("apiGroups")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(object: Json) -> Vec<&'static str> {
        Danger::of(&object)
            .into_iter()
            .map(Danger::as_str)
            .collect()
    }

    #[test]
    fn every_power_is_found_however_deep_it_hides() {
        let pod = json!({"spec": {
            "hostNetwork": true,
            "hostPID": true,
            "containers": [{"securityContext": {"privileged": true}}],
            "volumes": [{"name": "root", "hostPath": {"path": "/"}}],
        }});
        let all = ["privileged", "hostPath", "hostNetwork", "hostProcesses"];
        assert_eq!(of(pod.clone()), all);
        assert_eq!(of(json!({"spec": {"template": pod}})), all);
        assert_eq!(
            of(json!({"kind": "ManifestWork", "spec": {"workload": {"manifests": [pod]}}})),
            all
        );
        assert_eq!(
            of(json!({"securityContext": {"privileged": "true"}})),
            ["privileged"]
        );
        let binding = json!({"kind": "ClusterRoleBinding", "roleRef": {"kind": "ClusterRole", "name": "cluster-admin"}});
        assert_eq!(of(binding), ["clusterAdmin"]);
        let rule = json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]});
        assert_eq!(
            of(json!({"kind": "ClusterRole", "rules": [rule]})),
            ["clusterAdmin"]
        );
    }

    #[test]
    fn ordinary_objects_ask_for_nothing() {
        let empty: [&str; 0] = [];
        let pod = json!({"spec": {"hostNetwork": false, "containers": [{"securityContext": {"privileged": false}}]}});
        assert_eq!(of(pod), empty);
        assert_eq!(
            of(json!({"kind": "ConfigMap", "data": {"note": "privileged: true"}})),
            empty
        );
        let rule = json!({"apiGroups": ["apps"], "resources": ["*"], "verbs": ["*"]});
        assert_eq!(of(json!({"kind": "Role", "rules": [rule]})), empty);
    }
}

//! What a resource path names.

use crate::query::decode;

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Target {
    pub group: String,
    pub version: String,
    pub plural: String,
    pub namespace: String,
    pub name: String,
    pub subresource: String,
}

/// `/api/v1/…` and `/apis/{group}/{version}/…`; `None` for anything that is not a resource.
pub(super) fn parse(path: &str) -> Option<Target> {
    let segments: Vec<String> = path
        .split('/')
        .skip(1)
        .map(|s| decode(&s.replace('+', "%2B")).into_owned())
        .collect();
    let mut segments = segments.into_iter();
    let (group, version) = match segments.next()?.as_str() {
        "api" => (String::new(), segments.next()?),
        "apis" => (segments.next()?, segments.next()?),
        _ => return None,
    };
    let rest: Vec<String> = segments.collect();
    let mut target = Target {
        group,
        version,
        ..Target::default()
    };
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    let (namespace, words) = match words.as_slice() {
        // `namespaces/x`, and its two subresources, name the namespace itself.
        ["namespaces", _] | ["namespaces", _, "status" | "finalize"] => ("", words.as_slice()),
        ["namespaces", namespace, tail @ ..] => (*namespace, tail),
        all => ("", all),
    };
    target.namespace = namespace.to_owned();
    match words {
        [plural] => target.plural = (*plural).to_owned(),
        [plural, name] => {
            target.plural = (*plural).to_owned();
            target.name = (*name).to_owned();
        }
        [plural, name, subresource] => {
            target.plural = (*plural).to_owned();
            target.name = (*name).to_owned();
            target.subresource = (*subresource).to_owned();
        }
        _ => return None,
    }
    Some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(path: &str) -> [String; 6] {
        let t = parse(path).unwrap();
        [
            t.group,
            t.version,
            t.namespace,
            t.plural,
            t.name,
            t.subresource,
        ]
    }

    #[test]
    fn paths_name_what_kubernetes_says_they_name() {
        assert_eq!(
            parts("/api/v1/namespaces"),
            ["", "v1", "", "namespaces", "", ""]
        );
        assert_eq!(
            parts("/api/v1/namespaces/a"),
            ["", "v1", "", "namespaces", "a", ""]
        );
        assert_eq!(
            parts("/api/v1/namespaces/a/status"),
            ["", "v1", "", "namespaces", "a", "status"]
        );
        assert_eq!(
            parts("/api/v1/namespaces/a/pods"),
            ["", "v1", "a", "pods", "", ""]
        );
        assert_eq!(
            parts("/apis/batch/v1/namespaces/a/jobs/j/status"),
            ["batch", "v1", "a", "jobs", "j", "status"]
        );
        assert_eq!(
            parts("/apis/g/v1/things/t"),
            ["g", "v1", "", "things", "t", ""]
        );
    }

    #[test]
    fn other_paths_are_no_resources() {
        for path in ["/", "/api", "/apis/batch", "/api/v1/a/b/c/d", "/metrics"] {
            assert_eq!(parse(path), None, "{path}");
        }
    }
}

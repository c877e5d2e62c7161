//! What a call was to, in as few words as a label may have.

use std::collections::HashSet;

use parking_lot::Mutex;

/// More different ones than any configuration calls: one that puts what users wrote into its paths is cut off here.
const MOST: usize = 64;

/// What is not on the API, and what came after the most.
const OTHER: &str = "other";

/// Where the API's paths begin; a version follows.
const API: [&str; 2] = ["api", "hyperfleet"];

/// The endpoints seen so far.
#[derive(Debug, Default)]
pub(super) struct Endpoints(Mutex<HashSet<String>>);

impl Endpoints {
    /// Of a call to the API at `base`, or to somebody else.
    pub(super) fn label(&self, base: &str, url: &str) -> String {
        let Some(pattern) = pattern(base, url) else {
            return OTHER.to_owned();
        };
        let mut seen = self.0.lock();
        if seen.contains(&pattern) {
            return pattern;
        }
        if seen.len() == MOST {
            return OTHER.to_owned();
        }
        seen.insert(pattern.clone());
        pattern
    }
}

/// `/clusters/{id}/statuses`: a path of the API, without what differs from resource to resource.
fn pattern(base: &str, url: &str) -> Option<String> {
    let own = url.strip_prefix(base.trim_end_matches('/'));
    let url = own.filter(|path| path.starts_with('/')).unwrap_or(url);
    if url.contains("://") {
        return None;
    }
    let path = url.split(['?', '#']).next()?;
    let mut segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    if segments.starts_with(&API) {
        segments.drain(..segments.len().min(API.len() + 1));
    }
    let named = segments.iter().enumerate().map(|(place, segment)| {
        let is_collection = place % 2 == 0;
        if is_collection { segment } else { "{id}" }
    });
    let named: Vec<&str> = named.collect();
    Some(format!("/{}", named.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "https://api/";

    #[test]
    fn ids_and_questions_are_left_out() {
        for (url, expected) in [
            ("clusters/123", "/clusters/{id}"),
            (
                "/api/hyperfleet/v1/clusters/1/statuses",
                "/clusters/{id}/statuses",
            ),
            (
                "/clusters/a/nodepools/b?fields=x",
                "/clusters/{id}/nodepools/{id}",
            ),
            ("clusters?search=name%3D'x'", "/clusters"),
            ("", "/"),
            ("https://api/api/hyperfleet/v2/clusters/1", "/clusters/{id}"),
        ] {
            assert_eq!(pattern(BASE, url).unwrap(), expected, "{url}");
        }
        for url in ["https://other/clusters/1", "https://api.evil/clusters/1"] {
            assert_eq!(pattern(BASE, url), None);
        }
    }

    #[test]
    fn there_is_an_end_to_them() {
        let endpoints = Endpoints::default();
        for number in 0..MOST {
            let label = endpoints.label(BASE, &format!("kind-{number}/1"));
            assert_eq!(label, format!("/kind-{number}/{{id}}"));
        }
        assert_eq!(endpoints.label(BASE, "one-more/1"), OTHER);
        assert_eq!(endpoints.label(BASE, "kind-7/2"), "/kind-7/{id}");
    }
}

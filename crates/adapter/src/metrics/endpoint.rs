//! What a call was to, in as few words as a label may have.

use std::collections::HashSet;

use parking_lot::Mutex;

/// More different ones than any configuration calls: one that puts what users wrote into its paths is cut off here.
const MOST: usize = 64;

/// What is not on the API, and what came after the most.
const OTHER: &str = "other";

/// Where the API's paths begin.
const API: [&str; 3] = ["api", "hyperfleet", "v1"];

/// The endpoints seen so far.
#[derive(Debug, Default)]
pub(super) struct Endpoints(Mutex<HashSet<String>>);

impl Endpoints {
    pub(super) fn label(&self, url: &str) -> String {
        let Some(pattern) = pattern(url) else {
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

/// `/clusters/{id}/statuses`: a path of the API, without what differs from resource to resource. An absolute URL may be
/// anybody's.
fn pattern(url: &str) -> Option<String> {
    if url.contains("://") {
        return None;
    }
    let path = url.split(['?', '#']).next()?;
    let mut segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    if segments.starts_with(&API) {
        segments.drain(..API.len());
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
        ] {
            assert_eq!(pattern(url).unwrap(), expected, "{url}");
        }
        assert_eq!(pattern("https://api.example.com/clusters/1"), None);
    }

    #[test]
    fn there_is_an_end_to_them() {
        let endpoints = Endpoints::default();
        for number in 0..MOST {
            let label = endpoints.label(&format!("kind-{number}/1"));
            assert_eq!(label, format!("/kind-{number}/{{id}}"));
        }
        assert_eq!(endpoints.label("one-more/1"), OTHER);
        assert_eq!(endpoints.label("kind-7/2"), "/kind-7/{id}");
    }
}

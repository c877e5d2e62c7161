//! What the API says about owners, each asked for once a pass.

use std::collections::{HashMap, HashSet};

use futures::{StreamExt, stream};
use hyperfleet_client::{CallError, Client};

use crate::verdict::Answer;

/// Questions that wait for their answer at the same time.
const AT_ONCE: usize = 8;
/// After so many failures in a row nobody is asked any more in this pass: the rest would only take longer to fail.
const PATIENCE: u32 = 16;

/// The owners of one pass. Grows with the number of different owners, by about a hundred bytes each.
pub(crate) struct Owners {
    client: Client,
    known: HashMap<String, Answer>,
    failures: u32,
    failure: Option<String>,
}

impl Owners {
    pub(crate) fn new(client: Client) -> Owners {
        Owners {
            client,
            known: HashMap::new(),
            failures: 0,
            failure: None,
        }
    }

    /// Asks for those that are not known yet.
    pub(crate) async fn learn<'i>(&mut self, ids: impl IntoIterator<Item = &'i str>) {
        let unknown: HashSet<&str> = ids
            .into_iter()
            .filter(|id| !self.known.contains_key(*id))
            .collect();
        let mut rest: Vec<String> = unknown.into_iter().map(str::to_owned).collect();
        while !rest.is_empty() {
            let some = rest.split_off(rest.len().saturating_sub(AT_ONCE));
            if self.failures >= PATIENCE {
                for id in some {
                    let why =
                        Answer::Unclear("it did not answer several times in a row".to_owned());
                    self.known.insert(id, why);
                }
                continue;
            }
            let client = &self.client;
            let answers: Vec<(String, Answer)> = stream::iter(some)
                .map(|id| async move {
                    let answer = ask(client, &id).await;
                    (id, answer)
                })
                .buffer_unordered(AT_ONCE)
                .collect()
                .await;
            for (id, answer) in answers {
                match &answer {
                    Answer::Unclear(why) => {
                        self.failures += 1;
                        self.failure.get_or_insert_with(|| why.clone());
                    }
                    _ => self.failures = 0,
                }
                self.known.insert(id, answer);
            }
        }
    }

    /// What was learned; an owner nobody asked for is unclear.
    pub(crate) fn answer(&self, id: &str) -> Answer {
        let known = self.known.get(id).cloned();
        known.unwrap_or_else(|| Answer::Unclear("it was not asked".to_owned()))
    }

    /// The first question that was not answered.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Whether the API knows any of the owners: one that knows none may be another API, or an empty one.
    pub(crate) fn any_exists(&self) -> bool {
        let mut answers = self.known.values();
        answers.any(|answer| matches!(answer, Answer::Exists | Answer::Deleting))
    }
}

async fn ask(client: &Client, id: &str) -> Answer {
    match client.get("resources", id).await {
        Ok(resource) if resource.id != id => Answer::Unclear(format!(
            "it answered with another resource, {:?}",
            resource.id
        )),
        Ok(resource) if resource.is_deleting() => Answer::Deleting,
        Ok(_) => Answer::Exists,
        Err(error) => refused(&error),
    }
}

/// Only the API's own 404 says that something is not there; a proxy on the way knows nothing of it.
fn refused(error: &CallError) -> Answer {
    if !error.is_not_found_by_the_api() {
        return Answer::Unclear(error.to_string());
    }
    match error.problem().and_then(|problem| problem.deletion.clone()) {
        Some(record) => Answer::Removed(Box::new(record)),
        None => Answer::Absent,
    }
}

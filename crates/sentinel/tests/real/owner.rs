//! Somebody who creates, changes and deletes, at random but repeatably.

use std::sync::Arc;

use hyperfleet_client::{Call, Client, Method};
use serde_json::{Value, json};

use crate::history::History;

pub(crate) struct Owner {
    client: Client,
    history: Arc<History>,
    random: fastrand::Rng,
    clusters: Vec<String>,
    made: usize,
}

impl Owner {
    /// `HYPERFLEET_TEST_SEED` repeats what was done before.
    pub(crate) fn new(client: Client, history: Arc<History>) -> Owner {
        let given = std::env::var("HYPERFLEET_TEST_SEED").ok();
        let seed = given.and_then(|seed| seed.parse().ok());
        let seed = seed.unwrap_or_else(|| fastrand::u64(..));
        println!("HYPERFLEET_TEST_SEED={seed}");
        Owner {
            client,
            history,
            random: fastrand::Rng::with_seed(seed),
            clusters: Vec::new(),
            made: 0,
        }
    }

    pub(crate) fn random(&mut self) -> &mut fastrand::Rng {
        &mut self.random
    }

    pub(crate) async fn acts(&mut self, times: usize) {
        for _ in 0..times {
            self.act().await;
        }
    }

    async fn act(&mut self) {
        let dice = self.random.u32(0..100);
        if self.clusters.is_empty() || dice < 50 {
            self.create().await;
            return;
        }
        let index = self.random.usize(..self.clusters.len());
        if dice < 85 {
            let id = self.clusters[index].clone();
            let body = json!({"spec": {"nodes": self.random.u32(..)}});
            self.ask(Method::PATCH, &id, Some(body)).await;
        } else {
            let id = self.clusters.swap_remove(index);
            self.ask(Method::DELETE, &id, None).await;
        }
    }

    pub(crate) async fn create(&mut self) -> String {
        self.made += 1;
        let body = json!({"kind": "Cluster", "name": format!("c-{}", self.made), "spec": {}});
        let made = self.client.create("clusters", &body).await.unwrap();
        self.history.changed(&made.id, made.generation);
        self.clusters.push(made.id.clone());
        made.id
    }

    async fn ask(&self, method: Method, id: &str, body: Option<Value>) {
        let mut call = Call::new(method, format!("/clusters/{id}"));
        if let Some(body) = body {
            call = call.body(body.to_string());
        }
        let answer: Value = self.client.call(call).await.unwrap().json().unwrap();
        self.history
            .changed(id, answer["generation"].as_i64().unwrap());
    }
}

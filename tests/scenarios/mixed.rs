//! Mixed stacks, the other way round: our Sentinel and our adapter with an API of v1.0, and with each other's events as
//! a Sentinel of v1.0 sends them. The recording is `wire/api.json`.

use anyhow::{Context, Result};
use e2e::real::Extra;
use e2e::recorded::{Asked, Recorded};
use e2e::stack::Stack;
use hyperfleet_broker::Event;
use serde_json::{Value, json};

crate::scenarios![
    our_sentinel_reads_an_api_of_v1_page_by_page,
    our_adapter_takes_an_event_of_v1_and_reports_to_an_api_of_v1,
];

const CLUSTER: &str = "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b";
const GONE: &str = "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6c";

fn api() -> Result<Recorded> {
    Recorded::play("api", &[("cluster", CLUSTER), ("gone", GONE)])
}

fn our_sentinel_reads_an_api_of_v1_page_by_page(stack: &Stack) -> Result<()> {
    let api = api()?;
    let topic = "wire-sentinel";
    stack.with_real(|real| {
        let mut heard = real.listen_to(topic)?;
        let config = format!(
            "sentinel: {{name: recorded}}
clients: {{hyperfleet_api: {{base_url: \"{}\"}}, broker: {{topic: {topic}}}}}
resource_type: clusters
poll_interval: 200ms
resource_selector: [{{label: region, value: us-east}}]
",
            api.url()
        );
        let sentinel = real.start_extra("sentinel-of-v1", Extra::Sentinel(&config))?;
        let listed = api.wait_for("a page to be asked for", |asked: &Asked| {
            asked.path == "/clusters" && asked.query.contains_key("page")
        })?;
        anyhow::ensure!(listed.query["page"] == "1", "{listed:?}");
        let search = &listed.query["search"];
        anyhow::ensure!(search == "labels.region%3D%27us-east%27", "{listed:?}");
        let agent = listed.agent.starts_with("hyperfleet-sentinel/");
        anyhow::ensure!(agent && listed.agent.ends_with("(recorded)"), "{listed:?}");
        let event = heard.hear()?;
        anyhow::ensure!(event.ty == "com.redhat.hyperfleet.cluster.reconcile.v1");
        let named = |key: &str| event.data[key].clone();
        anyhow::ensure!(
            named("id") == CLUSTER && named("kind") == "Cluster",
            "{event:?}"
        );
        anyhow::ensure!(named("generation") == 2, "{event:?}");
        let href = format!("/api/hyperfleet/v1/clusters/{CLUSTER}");
        anyhow::ensure!(named("href") == href, "{event:?}");
        sentinel.terminate().map(drop)
    })
}

fn our_adapter_takes_an_event_of_v1_and_reports_to_an_api_of_v1(stack: &Stack) -> Result<()> {
    let api = api()?;
    let topic = "wire-adapter";
    let event = |id: &str| Event {
        id: format!("event-{id}"),
        source: "hyperfleet-sentinel".to_owned(),
        ty: "com.redhat.hyperfleet.cluster.reconcile".to_owned(),
        time: None,
        subject: None,
        datacontenttype: "application/json".to_owned(),
        dataschema: None,
        data: json!({"id": id, "kind": "Cluster", "href": format!("/api/hyperfleet/v1/clusters/{id}"), "generation": 2}),
        extensions: [].into(),
    };
    stack.with_real(|real| {
        let files = Extra::Adapter {
            shipped: "landing-zone",
            api: api.url(),
            topic,
        };
        let adapter = real.start_extra("adapter-of-v1", files)?;
        // A cluster that is gone stops nobody.
        real.publish(topic, &event(GONE))?;
        real.publish(topic, &event(CLUSTER))?;
        api.wait_for("the cluster that is gone to be asked for", |asked| {
            asked.path.ends_with(GONE)
        })?;
        let statuses = format!("/clusters/{CLUSTER}/statuses");
        let report = api.wait_for("a report", |asked| {
            asked.method == "PUT" && asked.path == statuses
        })?;
        is_a_report_of_v1(&report).with_context(|| format!("{report:#?}"))?;
        adapter.terminate().map(drop)
    })?;
    let on = stack.connect()?;
    let made = on.get(&format!("/api/v1/namespaces/{CLUSTER}"))?;
    anyhow::ensure!(made.is_some(), "the namespace was not made");
    // Its owner is in no API of this stack: nobody else takes it away.
    stack.ledger.meddled("Namespace", "", CLUSTER);
    on.delete(&format!("/api/v1/namespaces/{CLUSTER}"))
}

/// The members that v1.0 insists on, in the types it reads.
fn is_a_report_of_v1(report: &Asked) -> Result<()> {
    let agent = report.agent.starts_with("hyperfleet-adapter/");
    anyhow::ensure!(agent && report.agent.ends_with("(landing-zone)"));
    anyhow::ensure!(report.authorization == "Bearer adapter-of-v1");
    let body = &report.body;
    anyhow::ensure!(body["adapter"] == "landing-zone" && body["observed_generation"] == 2);
    let time = body["observed_time"].as_str().context("no observed_time")?;
    chrono::DateTime::parse_from_rfc3339(time)?;
    let conditions = body["conditions"].as_array().context("no conditions")?;
    for wanted in ["Applied", "Available", "Health"] {
        let mut all = conditions.iter();
        let one = all.find(|one| one["type"] == wanted).context(wanted)?;
        let status = one["status"].as_str().unwrap_or_default();
        anyhow::ensure!(["True", "False", "Unknown"].contains(&status), "{one}");
    }
    anyhow::ensure!(matches!(body["data"], Value::Object(_) | Value::Null));
    Ok(())
}

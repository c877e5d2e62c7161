//! A fleet that is ready and at rest, made by SQL from one cluster that went the usual way.

use std::sync::Arc;

use anyhow::{Result, ensure};
use chrono::{DateTime, SecondsFormat, Utc};
use http::Method;
use hyperfleet_store::PrivateServer;
use serde_json::{Value, json};

use super::stage::{Stage, sql};
use crate::connection::{Call, Connection, Endpoint};
use crate::report::{ADAPTERS, DONE, Reports};

/// The cluster that all others are copies of: every adapter has reported that all is well.
pub(super) async fn template(api_port: u16) -> Result<()> {
    let endpoint = Endpoint::parse(&format!("http://127.0.0.1:{api_port}"), &[])?;
    let mut connection = Connection::new(Arc::new(endpoint));
    let body = json!({
        "kind": "Cluster", "name": "template", "labels": {"env": "prod", "shard": "1"},
        "spec": {"region": "us-east1", "nodes": 3, "release": {"version": "4.17.3", "channel": "stable"}},
    });
    let create = Call::new(Method::POST, "/clusters".to_owned(), body.to_string());
    let created = connection.send(create).await?;
    ensure!(created.status == 201, "the template could not be created");
    let created: Value = serde_json::from_slice(&created.body)?;
    let id = created["id"].as_str().unwrap_or_default();
    let reports = Reports::new(1);
    for adapter in 0..ADAPTERS.len() {
        let report = reports.next(0, adapter, DONE).to_string();
        let put = Call::new(Method::PUT, format!("/clusters/{id}/statuses"), report);
        let put = connection.send(put).await?;
        ensure!(put.status == 201, "the template could not be reported on");
    }
    Ok(())
}

/// Copies the template. The columns are those every version of the table has.
pub(super) async fn fill(database: &PrivateServer, clusters: u32) -> Result<()> {
    let copies = clusters.saturating_sub(1);
    let statement = format!(
        "INSERT INTO resources (id, kind, name, href, spec, labels, generation, status, created_time, updated_time,
                                created_by, updated_by, report_times)
         SELECT n.id, t.kind, 'c-' || n.number, '/api/hyperfleet/v1/clusters/' || n.id, t.spec, t.labels,
                t.generation, t.status, t.created_time + n.number * interval '1 microsecond', t.updated_time,
                t.created_by, t.updated_by, t.report_times
         FROM (SELECT number, gen_random_uuid() AS id FROM generate_series(1, {copies}) AS number) AS n,
              (SELECT * FROM resources WHERE name = 'template') AS t"
    );
    sql(database, &statement).await?;
    sql(database, "VACUUM ANALYZE resources").await?;
    sql(database, "CHECKPOINT").await?;
    Ok(())
}

/// Ids of some that are ready, at random.
pub(super) async fn some(stage: &Stage, count: u32) -> Result<Vec<String>> {
    let found = stage
        .sql(&format!(
            "SELECT id FROM resources WHERE name LIKE 'c-%' ORDER BY md5(id::text) LIMIT {count}"
        ))
        .await?;
    Ok(found.lines().map(str::to_owned).collect())
}

/// Makes the oldest report of some so old that their refresh is due at one moment. Answers how many there are.
pub(super) async fn due_at(stage: &Stage, count: u32, moment: DateTime<Utc>) -> Result<u32> {
    let reported = moment - chrono::TimeDelta::minutes(30);
    let reported = reported.to_rfc3339_opts(SecondsFormat::Micros, true);
    let statement = format!(
        "WITH old AS (
             UPDATE resources SET revision = revision + 1,
                    created_time = created_time - interval '1 day', updated_time = updated_time - interval '1 day',
                    status = regexp_replace(status::text, '\"last_updated_time\": \"[^\"]+\"',
                                            '\"last_updated_time\": \"{reported}\"', 'g')::jsonb
             WHERE id IN (SELECT id FROM resources WHERE status ->> 'phase' = 'Ready' ORDER BY id LIMIT {count})
             RETURNING 1
         ) SELECT count(*) FROM old"
    );
    Ok(stage.sql(&statement).await?.trim().parse()?)
}

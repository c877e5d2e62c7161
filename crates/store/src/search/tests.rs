//! SQL and memory agree on what a search means.

use std::collections::BTreeSet;

use hyperfleet_core::resource::Resource;
use hyperfleet_core::search::{Search, arbitrary};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use sqlx::PgPool;
use uuid::Uuid;

use super::{Sql, push};
use crate::testing::TestDatabase;

async fn found(pool: &PgPool, search: &Search) -> BTreeSet<Uuid> {
    let mut sql = Sql::new("SELECT r.id FROM resources r WHERE ");
    push(&mut sql, search);
    let text = sql.sql().as_str().to_owned();
    let ids: Vec<Uuid> = sql
        .build_query_scalar()
        .fetch_all(pool)
        .await
        .unwrap_or_else(|error| panic!("{search}\n{text}\n{error}"));
    ids.into_iter().collect()
}

/// Resources that can be in one table: of one id the first, and with owners that are there.
fn table() -> impl Strategy<Value = Vec<Resource>> {
    prop::collection::vec(arbitrary::resource(), 1..6).prop_map(|resources| {
        let mut table: Vec<Resource> = Vec::new();
        for mut resource in resources {
            if table.iter().any(|other| other.id == resource.id) {
                continue;
            }
            resource
                .owner_references
                .take_if(|owner| !table.iter().any(|other| other.id == owner.id));
            table.push(resource);
        }
        table
    })
}

async fn database() -> TestDatabase {
    let database = TestDatabase::new().await;
    // Names may be taken twice here: what is unique is not what is tested. And they are ordered as some databases
    // order them, which is not by their bytes.
    let odd = "DROP INDEX resources_root_name; DROP INDEX resources_child_name;
               ALTER TABLE resources ALTER COLUMN name TYPE text COLLATE \"und-x-icu\"";
    sqlx::raw_sql(odd)
        .execute(&database.store.pool)
        .await
        .unwrap();
    database
}

fn expected(resources: &[Resource], search: &Search) -> BTreeSet<Uuid> {
    resources
        .iter()
        .filter(|resource| search.matches(resource))
        .map(|resource| resource.id.0)
        .collect()
}

/// Forty resources, the same in every run, some of which own each other.
fn forty() -> Vec<Resource> {
    let mut runner = TestRunner::deterministic();
    let mut forty: Vec<Resource> = Vec::new();
    for number in 0..40 {
        let mut resource = arbitrary::resource()
            .new_tree(&mut runner)
            .unwrap()
            .current();
        if forty.iter().any(|other| other.id == resource.id) {
            resource.id.0 = Uuid::from_u128(number);
        }
        resource
            .owner_references
            .take_if(|owner| !forty.iter().any(|other| other.id == owner.id));
        forty.push(resource);
    }
    forty
}

/// Every operator on every kind of field, straight and negated.
fn every_question() -> Vec<String> {
    let texts = [
        "id",
        "owner_id",
        "name",
        "kind",
        "href",
        "created_by",
        "deleted_by",
        "owner_kind",
        "status.phase",
        "labels.env",
        "labels['a=b']",
        "labels.hyperfleet.io/cluster-id",
        "tenancy.env",
        "spec.a",
        "spec.b",
        "spec.a.b",
        "spec.a.0",
    ];
    let values = [
        "''",
        "'a'",
        "'Ready'",
        "'10'",
        "'0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b'",
    ];
    let ordered = [
        "= $",
        "!= $",
        "< $",
        "<= $",
        "> $",
        ">= $",
        "IN [$]",
        "IN [$, $]",
        "IN []",
        "BETWEEN $ AND $",
        "IS NULL",
    ];
    let equal = ["= $", "!= $", "IN [$]", "IN []", "IS NULL"];
    let like = ["LIKE 'a%'", "ILIKE 'A%'", "LIKE '%'"];
    let times = [
        "created_time",
        "deleted_time",
        "status.conditions.Reconciled.last_updated_time",
    ];
    let integers = [
        "generation",
        "status.conditions.Reconciled.observed_generation",
    ];
    let conditions = [
        "status.conditions.Reconciled",
        "status.conditions['odd-Type']",
    ];
    let spec = ["spec.a", "spec.b", "spec.a.b", "spec.missing"];
    let mut questions = Vec::new();
    let mut ask = |fields: &[&str], operators: &[&str], values: &[&str]| {
        for field in fields {
            for operator in operators {
                for value in values {
                    questions.push(format!("{field} {}", operator.replace('$', value)));
                }
            }
        }
    };
    ask(&texts, &ordered, &values);
    ask(&texts, &like, &[""]);
    ask(
        &times,
        &ordered,
        &["'2026-01-01'", "'2026-01-01T00:00:00.000001Z'"],
    );
    ask(&integers, &ordered, &["1", "2"]);
    ask(&conditions, &equal, &["'True'", "'False'", "'Unknown'"]);
    ask(&spec, &ordered, &["0", "10", "-5", "1e21"]);
    ask(&spec, &equal, &["true"]);
    questions
}

#[tokio::test]
async fn the_database_answers_every_question_as_memory_does() {
    let database = database().await;
    let forty = forty();
    for resource in &forty {
        database.store.put_for_tests(resource).await;
    }
    let mut answers = BTreeSet::new();
    for question in every_question() {
        for question in [question.clone(), format!("NOT {question}")] {
            let search = Search::parse(&question).unwrap();
            let expected = expected(&forty, &search);
            assert_eq!(
                found(&database.store.pool, &search).await,
                expected,
                "{question}"
            );
            answers.insert(expected);
        }
    }
    assert!(
        answers.len() > 100,
        "the questions tell the resources apart"
    );
}

#[test]
fn the_database_finds_what_matches() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let database = runtime.block_on(database());
    let pool = &database.store.pool;
    let searches = prop::collection::vec(arbitrary::search(), 1..6);
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(resources in table(), searches in searches)| {
        runtime.block_on(async {
            sqlx::query("DELETE FROM resources").execute(pool).await.unwrap();
            for resource in &resources {
                database.store.put_for_tests(resource).await;
            }
            for search in &searches {
                prop_assert_eq!(found(pool, search).await, expected(&resources, search), "{}", search);
            }
            Ok(())
        })?;
    });
}

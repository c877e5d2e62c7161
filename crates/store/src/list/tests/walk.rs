//! A walk meets everything that stays, once and in order, whatever else happens.

use hyperfleet_core::list::{Direction, Item, KeysetColumn, KeysetOrder};
use hyperfleet_core::resource::Resource;
use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

use super::super::{ResourceFilter, StretchQuery};
use crate::database::Store;
use crate::resources::Owner;
use crate::testing::TestDatabase;

/// Few names and times, so that ids must break ties.
fn row() -> impl Strategy<Value = Resource> {
    (any::<u128>(), 0..3, 0..3).prop_map(|(id, name, second)| {
        let time = format!("2026-01-01T00:00:0{second}.000001Z");
        serde_json::from_value(json!({
            "id": Uuid::from_u128(id), "kind": "Cluster", "name": format!("n-{name}"), "href": "/", "spec": {},
            "generation": 1,
            "status": {
                "phase": "Ready", "phaseDescription": "", "conditions": [], "adapters": [],
                "last_updated_time": time, "last_transition_time": time,
            },
            "created_time": time, "updated_time": time, "created_by": "me", "updated_by": "me",
        }))
        .unwrap()
    })
}

fn order() -> impl Strategy<Value = KeysetOrder> {
    let columns = [
        KeysetColumn::CreatedTime,
        KeysetColumn::Name,
        KeysetColumn::Id,
    ];
    let directions = [Direction::Ascending, Direction::Descending];
    (
        prop::sample::select(columns.to_vec()),
        prop::sample::select(directions.to_vec()),
    )
        .prop_map(|(column, direction)| KeysetOrder { column, direction })
}

/// What others do between two stretches.
#[derive(Debug, Clone)]
enum Noise {
    Create(Box<Resource>),
    /// One of those that do not stay.
    Delete(prop::sample::Index),
    /// Any of all.
    Update(prop::sample::Index),
}

fn noise() -> impl Strategy<Value = Vec<Noise>> {
    prop::collection::vec(
        prop_oneof![
            row().prop_map(|row| Noise::Create(Box::new(row))),
            any::<prop::sample::Index>().prop_map(Noise::Delete),
            any::<prop::sample::Index>().prop_map(Noise::Update),
        ],
        0..3,
    )
}

async fn make(store: &Store, noise: &Noise, others: &mut Vec<Uuid>, staying: &[Resource]) {
    match noise {
        Noise::Create(resource) => {
            store.put_for_tests(resource).await;
            others.push(resource.id.0);
        }
        Noise::Delete(index) if !others.is_empty() => {
            let id = others.remove(index.index(others.len()));
            let delete = sqlx::query("DELETE FROM resources WHERE id = $1").bind(id);
            delete.execute(&store.pool).await.unwrap();
        }
        Noise::Delete(_) => {}
        Noise::Update(index) => {
            let id = staying[index.index(staying.len())].id.0;
            let update = "UPDATE resources SET generation = generation + 1, updated_time = now() WHERE id = $1";
            sqlx::query(update)
                .bind(id)
                .execute(&store.pool)
                .await
                .unwrap();
        }
    }
}

fn sorted(mut resources: Vec<Resource>, order: KeysetOrder) -> Vec<Uuid> {
    resources.sort_by(|a, b| {
        let ordering = match order.column {
            KeysetColumn::CreatedTime => a.created_time.cmp(&b.created_time),
            KeysetColumn::Name => a.name.cmp(&b.name),
            KeysetColumn::Id => std::cmp::Ordering::Equal,
        };
        ordering.then(a.id.cmp(&b.id))
    });
    if order.direction == Direction::Descending {
        resources.reverse();
    }
    resources.iter().map(|resource| resource.id.0).collect()
}

#[test]
fn whatever_stays_is_met_once_and_in_order() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let database = runtime.block_on(TestDatabase::new());
    let store = &database.store;
    runtime
        .block_on(sqlx::raw_sql("DROP INDEX resources_root_name").execute(&store.pool))
        .unwrap();
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let rows = || prop::collection::vec(row(), 1..8);
    proptest!(config, |(
        staying in rows(), others in rows(), order in order(), limit in 1_u32..5,
        noises in prop::collection::vec(noise(), 16),
    )| {
        let met = runtime.block_on(async {
            sqlx::query("DELETE FROM resources").execute(&store.pool).await.unwrap();
            for resource in staying.iter().chain(&others) {
                store.put_for_tests(resource).await;
            }
            let mut others: Vec<Uuid> = others.iter().map(|resource| resource.id.0).collect();
            let mut met = Vec::new();
            let mut after = None;
            for noises in &noises {
                let query = StretchQuery {
                    filter: ResourceFilter { kind: Some("Cluster"), owner: Owner::Any, search: None, reference: None },
                    order,
                    after: after.as_ref(),
                    limit,
                    fields: None,
                };
                let (items, next) = store.stretch(&query).await.unwrap();
                assert!(items.len() <= limit as usize);
                met.extend(items.into_iter().map(|item| match item {
                    Item::Whole(resource) => resource.id.0,
                    Item::Part(_) => panic!("whole resources were asked for"),
                }));
                after = next;
                if after.is_none() {
                    break;
                }
                for noise in noises {
                    make(store, noise, &mut others, &staying).await;
                }
            }
            assert!(after.is_none() || met.len() >= noises.len(), "the walk goes on");
            (met, after)
        });
        let (met, after) = met;
        let mut once = met.clone();
        once.sort_unstable();
        once.dedup();
        prop_assert_eq!(once.len(), met.len(), "nothing is met twice");
        // Others may be created faster than they are walked past; then only the beginning can be judged.
        let expected = sorted(staying.clone(), order);
        let of_staying: Vec<Uuid> = met.into_iter().filter(|id| expected.contains(id)).collect();
        if after.is_none() {
            prop_assert_eq!(of_staying, expected);
        } else {
            prop_assert_eq!(&of_staying[..], &expected[..of_staying.len()]);
        }
    });
}

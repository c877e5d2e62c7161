//! What is read of a resource is what would be cut out of the whole.

use hyperfleet_core::fields::Fields;
use hyperfleet_core::list::{Item, Order, PageRequest};
use hyperfleet_core::resource::Resource;
use hyperfleet_core::search::arbitrary;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{PageQuery, ResourceFilter};
use crate::resources::Owner;
use crate::testing::TestDatabase;

fn names() -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::subsequence(
        vec![
            "id",
            "kind",
            "name",
            "href",
            "spec",
            "spec.a",
            "spec.a.b",
            "labels",
            "labels.env",
            "tenancy",
            "generation",
            "status",
            "status.phase",
            "status.conditions.type",
            "owner_references",
            "owner_references.id",
            "references",
            "references.wif",
            "created_time",
            "updated_time",
            "created_by",
            "updated_by",
            "deleted_time",
            "deleted_by",
        ],
        1..6,
    )
}

fn resource() -> impl Strategy<Value = Resource> {
    (arbitrary::resource(), any::<bool>(), any::<bool>()).prop_map(
        |(mut resource, owned, pointing)| {
            // It is its own owner and target: there is no other.
            let itself = json!({"id": resource.id, "kind": resource.kind, "href": "/x"});
            resource.owner_references =
                owned.then(|| serde_json::from_value(itself.clone()).unwrap());
            if pointing {
                resource.references = serde_json::from_value(json!({"wif": [itself]})).unwrap();
            }
            resource
        },
    )
}

#[test]
fn a_list_of_some_members_reads_the_same_as_the_whole() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let database = runtime.block_on(TestDatabase::new());
    let store = &database.store;
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(resource in resource(), names in names())| {
        let fields = Fields::parse(names).unwrap();
        let query = PageQuery {
            filter: ResourceFilter { kind: None, owner: Owner::Any, search: None, reference: None },
            order: &Order::default(),
            page: PageRequest::default(),
            fields: fields.as_ref(),
        };
        let items = runtime.block_on(async {
            sqlx::query("DELETE FROM resources").execute(&store.pool).await.unwrap();
            store.put_for_tests(&resource).await;
            store.page(&query).await.unwrap().items
        });
        let Some([Item::Part(part)]) = items.first_chunk() else {
            panic!("one part of a resource, not {items:?}");
        };
        let expected = fields.unwrap().project(&stored(resource));
        prop_assert_eq!(Value::Object(part.clone()), expected);
    });
}

#[test]
fn a_whole_resource_is_written_as_it_would_be_read() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let database = runtime.block_on(TestDatabase::new());
    let store = &database.store;
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(resource in resource())| {
        let found = runtime.block_on(async {
            sqlx::query("DELETE FROM resources").execute(&store.pool).await.unwrap();
            store.put_for_tests(&resource).await;
            store.written(None, Owner::Any, resource.id).await.unwrap()
        });
        prop_assert_eq!(json!(found), json!(stored(resource)));
    });
}

/// PostgreSQL keeps no negative zero.
fn stored(mut resource: Resource) -> Resource {
    fn positive(value: &mut Value) {
        match value {
            Value::Number(number) if number.as_f64() == Some(0.0) && number.is_f64() => {
                *value = json!(0.0)
            }
            Value::Array(items) => items.iter_mut().for_each(positive),
            Value::Object(members) => members.values_mut().for_each(positive),
            _ => {}
        }
    }
    resource.spec.values_mut().for_each(positive);
    resource
}

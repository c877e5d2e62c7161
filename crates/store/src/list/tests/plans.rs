//! No list reads the whole table.

use hyperfleet_core::fields::Fields;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::list::{Direction, Key, KeysetColumn, KeysetOrder, Mark, Order, PageRequest};
use hyperfleet_core::search::Search;
use sqlx::PgPool;
use uuid::Uuid;

use super::super::{PageQuery, ResourceFilter, StretchQuery, statement};
use crate::resources::Owner;
use crate::search::Sql;
use crate::sight::{Sight, View};
use crate::testing::TestDatabase;

/// 20,000 clusters and as many node pools, each with a spec, labels, conditions, and some with references.
const FLEET: &str = r#"
INSERT INTO resources (id, kind, name, href, spec, labels, generation, status, created_time, updated_time, created_by,
                       updated_by, refs)
SELECT ('00000000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid, 'Cluster', 'c-' || i, '/c/' || i,
       jsonb_build_object('region', 'r' || i % 7, 'text', repeat(md5(i::text), 20)),
       jsonb_build_object('shard', (i % 400)::text, 'env', CASE i % 2 WHEN 0 THEN 'dev' ELSE 'prod' END), 1,
       jsonb_build_object('phase', CASE i % 200 WHEN 0 THEN 'Failed' ELSE 'Ready' END, 'conditions', jsonb_build_array(
           jsonb_build_object('type', 'Reconciled', 'status', CASE i % 100 WHEN 0 THEN 'False' ELSE 'True' END,
                              'last_updated_time', '2026-01-01T00:00:00Z'))),
       '2026-01-01'::timestamptz + i * interval '1 second', '2026-01-01', 'me', 'me',
       CASE i % 5 WHEN 0 THEN jsonb_build_object('wif', jsonb_build_array(jsonb_build_object('id', 'w-' || i % 500)))
                  ELSE '{}' END
FROM generate_series(1, 20000) i;
INSERT INTO resources (id, kind, name, href, owner_id, owner_kind, owner_href, spec, labels, generation, status,
                       created_time, updated_time, created_by, updated_by)
SELECT ('00000000-0000-7000-9000-' || lpad(i::text, 12, '0'))::uuid, 'NodePool', 'n-' || i, '/n/' || i,
       ('00000000-0000-7000-8000-' || lpad((1 + i % 2000)::text, 12, '0'))::uuid, 'Cluster', '/c', '{}', '{}', 1,
       '{"phase": "Ready", "conditions": []}', '2026-01-01'::timestamptz + i * interval '1 second', '2026-01-01', 'me',
       'me'
FROM generate_series(1, 20000) i;
ANALYZE resources;
"#;

const NEWEST: KeysetOrder = KeysetOrder {
    column: KeysetColumn::CreatedTime,
    direction: Direction::Descending,
};

const CLUSTERS: ResourceFilter<'static> = ResourceFilter {
    kind: Some("Cluster"),
    owner: Owner::Any,
    search: None,
    reference: None,
};

async fn plan(pool: &PgPool, mut sql: Sql) -> String {
    let lines: Vec<String> = sql
        .build_query_scalar()
        .persistent(false)
        .fetch_all(pool)
        .await
        .unwrap();
    lines.join("\n")
}

fn cluster(number: u64) -> ResourceId {
    ResourceId(Uuid::parse_str(&format!("00000000-0000-7000-8000-{number:012}")).unwrap())
}

#[tokio::test]
async fn every_list_goes_by_an_index() {
    let database = TestDatabase::new().await;
    let pool = &database.store.pool;
    sqlx::raw_sql(FLEET).execute(pool).await.unwrap();

    let clusters = CLUSTERS;
    let everything = ResourceFilter {
        kind: None,
        ..clusters
    };
    let (newest, by_name) = (Order::default(), Order::parse(["name"]).unwrap());
    let fields = Fields::parse(["name,generation"]).unwrap().unwrap();
    let page = |filter, page, order, fields| PageQuery {
        filter,
        order,
        page: PageRequest { page, size: 20 },
        fields,
    };
    let owned = ResourceFilter {
        kind: Some("NodePool"),
        owner: Owner::Is(cluster(7)),
        ..clusters
    };
    let pointing = ResourceFilter {
        reference: Some(("wif", "w-25")),
        ..clusters
    };
    let searches: Vec<Search> = [
        "labels.shard = '17'",
        "labels.shard in ['17', '18']",
        "labels.env = 'dev'",
        "status.conditions.Reconciled = 'False'",
        "status.conditions.Reconciled != 'True'",
        "not status.conditions.Reconciled = 'True'",
        "status.conditions.Reconciled = 'False' and status.conditions.Reconciled.last_updated_time < '2026-03-01'",
        "status.phase = 'Failed'",
        "labels.shard = '17' and labels.env = 'prod' and spec.region = 'r1'",
        "id in ['00000000-0000-7000-8000-000000000001']",
        "owner_id = '00000000-0000-7000-8000-000000000001'",
    ]
    .into_iter()
    .map(|text| Search::parse(text).unwrap())
    .collect();

    let tenant = Sight::new(vec![View {
        tenancy: [("org".to_owned(), "acme".to_owned())].into(),
        ..View::default()
    }]);
    let mut statements = vec![
        (
            "kind",
            statement::page("EXPLAIN ", &page(clusters, 1, &newest, None), None),
        ),
        (
            "kind, counted",
            statement::counted_page("EXPLAIN ", &page(clusters, 1, &newest, None), None),
        ),
        (
            "kind, far",
            statement::page("EXPLAIN ", &page(clusters, 50, &newest, None), None),
        ),
        (
            "kind, some fields",
            statement::page("EXPLAIN ", &page(clusters, 1, &newest, Some(&fields)), None),
        ),
        (
            "kind by name",
            statement::page("EXPLAIN ", &page(clusters, 1, &by_name, None), None),
        ),
        (
            "all kinds",
            statement::page("EXPLAIN ", &page(everything, 1, &newest, None), None),
        ),
        (
            "owner",
            statement::page("EXPLAIN ", &page(owned, 1, &newest, None), None),
        ),
        ("owner, count", statement::count("EXPLAIN ", &owned, None)),
        (
            "reference",
            statement::page("EXPLAIN ", &page(pointing, 1, &newest, None), None),
        ),
        (
            "reference, count",
            statement::count("EXPLAIN ", &pointing, None),
        ),
        (
            "tenant",
            statement::page("EXPLAIN ", &page(clusters, 1, &newest, None), Some(&tenant)),
        ),
        (
            "tenant, count",
            statement::count("EXPLAIN ", &clusters, Some(&tenant)),
        ),
    ];
    for search in &searches {
        let filter = ResourceFilter {
            search: Some(search),
            ..clusters
        };
        statements.push((
            "search",
            statement::page("EXPLAIN ", &page(filter, 1, &newest, None), None),
        ));
    }
    let time = "2026-01-01T01:00:00Z".parse().unwrap();
    for (key, filter) in [
        (Key::CreatedTime(time), clusters),
        (Key::CreatedTime(time), everything),
        (Key::Name("c-5000".to_owned()), clusters),
        (Key::Id, clusters),
    ] {
        for direction in [Direction::Ascending, Direction::Descending] {
            let after = Mark {
                id: cluster(3600),
                key: key.clone(),
            };
            let order = KeysetOrder {
                column: key.column(),
                direction,
            };
            let query = StretchQuery {
                filter,
                order,
                after: Some(&after),
                limit: 500,
                fields: Some(&fields),
            };
            statements.push(("stretch", statement::stretch("EXPLAIN ", &query, None)));
        }
    }
    let first = StretchQuery {
        filter: clusters,
        order: NEWEST,
        after: None,
        limit: 500,
        fields: None,
    };
    statements.push((
        "first stretch",
        statement::stretch("EXPLAIN ", &first, None),
    ));

    for (name, sql) in statements {
        let text = sql.sql().as_str().to_owned();
        let plan = plan(pool, sql).await;
        assert!(
            !plan.contains("Seq Scan on resources "),
            "{name}: {text}\n{plan}"
        );
    }
}

#[tokio::test]
async fn a_far_page_does_not_read_the_rows_before_it() {
    let database = TestDatabase::new().await;
    let pool = &database.store.pool;
    // VACUUM marks no page as visible to all whose rows are not on disk yet.
    let mut connection = pool.acquire().await.unwrap();
    for statements in ["SET synchronous_commit = on", FLEET] {
        sqlx::raw_sql(statements)
            .execute(&mut *connection)
            .await
            .unwrap();
    }
    sqlx::raw_sql("VACUUM resources")
        .execute(pool)
        .await
        .unwrap();
    let query = PageQuery {
        filter: CLUSTERS,
        order: &Order::default(),
        page: PageRequest {
            page: 900,
            size: 20,
        },
        fields: None,
    };
    let plan = plan(pool, statement::page("EXPLAIN ", &query, None)).await;
    assert!(
        plan.contains("Index Only Scan using resources_newest"),
        "{plan}"
    );
    assert!(!plan.contains("Sort"), "{plan}");
}

#[tokio::test]
async fn kept_plans_go_by_an_index_for_any_value() {
    let database = TestDatabase::new().await;
    sqlx::raw_sql(FLEET)
        .execute(&database.store.pool)
        .await
        .unwrap();
    let mut connection = database.store.pool.acquire().await.unwrap();
    let generic = "SET plan_cache_mode = force_generic_plan";
    sqlx::raw_sql(generic)
        .execute(&mut *connection)
        .await
        .unwrap();
    let kinds = [Some("Cluster"), None];
    let owners = [Owner::Any, Owner::Is(cluster(7))];
    for (kind, owner) in kinds
        .iter()
        .flat_map(|kind| owners.map(|owner| (*kind, owner)))
    {
        let filter = ResourceFilter {
            kind,
            owner,
            search: None,
            reference: None,
        };
        assert!(filter.has_few_forms());
        let page = PageQuery {
            filter,
            order: &Order::default(),
            page: PageRequest::default(),
            fields: None,
        };
        let after = Mark {
            id: cluster(1),
            key: Key::CreatedTime("2026-01-01T01:00:00Z".parse().unwrap()),
        };
        let stretch = StretchQuery {
            filter,
            order: NEWEST,
            after: Some(&after),
            limit: 500,
            fields: None,
        };
        for mut sql in [
            statement::page("EXPLAIN ", &page, None),
            statement::stretch("EXPLAIN ", &stretch, None),
        ] {
            let plan: Vec<String> = sql
                .build_query_scalar()
                .fetch_all(&mut *connection)
                .await
                .unwrap();
            let plan = plan.join("\n");
            assert!(!plan.contains("Seq Scan on resources "), "{plan}");
        }
    }
}

#[tokio::test]
async fn a_kept_page_is_not_planned_anew_every_time() {
    let database = TestDatabase::new().await;
    let pool = &database.store.pool;
    sqlx::raw_sql(FLEET).execute(pool).await.unwrap();
    let mut connection = pool.acquire().await.unwrap();
    for page in 1..=12 {
        let query = PageQuery {
            filter: CLUSTERS,
            order: &Order::default(),
            page: PageRequest { page, size: 10 },
            fields: None,
        };
        let rows = statement::page("", &query, None)
            .build()
            .fetch_all(&mut *connection)
            .await
            .unwrap();
        assert_eq!(rows.len(), 10);
    }
    let (any, these): (i64, i64) = sqlx::query_as(
        "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE '%OFFSET%'",
    )
    .fetch_one(&mut *connection)
    .await
    .unwrap();
    // PostgreSQL tries five plans for these very values before it decides.
    assert_eq!((any, these), (7, 5));
}

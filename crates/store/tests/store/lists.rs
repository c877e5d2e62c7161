use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hyperfleet_core::list::{Direction, Item, KeysetColumn, KeysetOrder, Order, Page, PageRequest};
use hyperfleet_core::search::Search;
use hyperfleet_store::{Owner, PageQuery, ResourceFilter, StretchQuery};

use crate::fleet::{Fleet, done};

const CLUSTERS: ResourceFilter<'_> = ResourceFilter {
    kind: Some("Cluster"),
    owner: Owner::Any,
    search: None,
    reference: None,
};

async fn page(fleet: &Fleet, filter: ResourceFilter<'_>, page: u32, size: u32) -> Page<Item> {
    let query = PageQuery {
        filter,
        order: &Order::default(),
        page: PageRequest { page, size },
        fields: None,
    };
    fleet.store.page(&query).await.unwrap()
}

fn name(item: &Item) -> &str {
    match item {
        Item::Whole(resource) => &resource.name,
        Item::Part(members) => members["name"].as_str().unwrap(),
    }
}

fn names(items: &[Item]) -> Vec<&str> {
    items.iter().map(name).collect()
}

#[tokio::test]
async fn pages_are_newest_first_and_know_the_total() {
    let fleet = Fleet::new().await;
    for index in 0..5 {
        fleet.create("Cluster", &format!("c-{index}")).await;
    }
    fleet.create("Wif", "other").await;
    let mut seen = Vec::new();
    for number in 1..=3 {
        let page = page(&fleet, CLUSTERS, number, 2).await;
        assert_eq!(page.total, 5);
        seen.extend(names(&page.items).into_iter().map(str::to_owned));
    }
    assert_eq!(seen, ["c-4", "c-3", "c-2", "c-1", "c-0"]);
    let beyond = page(&fleet, CLUSTERS, 9, 2).await;
    assert_eq!((beyond.items.len(), beyond.total), (0, 5));
    let all = ResourceFilter {
        kind: None,
        ..CLUSTERS
    };
    assert_eq!(page(&fleet, all, 1, 2).await.total, 6);
}

#[tokio::test]
async fn filters_combine_and_a_search_never_widens_them() {
    let fleet = Fleet::new().await;
    let wif = fleet.create("Wif", "wif").await;
    let one = fleet.create_pointing("one", "wif", &wif).await;
    let two = fleet.create("Cluster", "two").await;
    for owner in [&one, &two] {
        fleet.create_child("NodePool", "pool-a", owner).await;
        fleet.create_child("NodePool", "pool-b", owner).await;
    }
    let target = wif.id.to_string();
    let pointing = ResourceFilter {
        reference: Some(("wif", &target)),
        ..CLUSTERS
    };
    assert_eq!(names(&page(&fleet, pointing, 1, 10).await.items), ["one"]);
    let search = Search::parse("name = 'pool-a' or id != ''").unwrap();
    let owned = ResourceFilter {
        kind: Some("NodePool"),
        owner: Owner::Is(one.id),
        search: Some(&search),
        reference: None,
    };
    assert_eq!(
        names(&page(&fleet, owned, 1, 10).await.items),
        ["pool-b", "pool-a"]
    );
    for size in 1..3 {
        let page = page(&fleet, owned, 1, size).await;
        assert_eq!(page.total, 2, "counted with the same filter");
    }
}

#[tokio::test]
async fn a_walk_is_not_disturbed_by_others() {
    let fleet = Fleet::new().await;
    let mut staying = BTreeMap::new();
    for index in 0..60 {
        let cluster = fleet.create("Cluster", &format!("stays-{index}")).await;
        staying.insert(cluster.name.clone(), cluster.id);
    }
    let (over, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
    let noise = async {
        for round in 0.. {
            let passing = fleet.create("Cluster", &format!("passes-{round}")).await;
            let (_, id) = staying.iter().nth(round % staying.len()).unwrap();
            fleet.label(*id, "round", &round.to_string()).await;
            fleet.report(*id, &done("a")).await.unwrap();
            let delete = sqlx::query("DELETE FROM resources WHERE id = $1").bind(passing.id.0);
            delete.execute(fleet.store.pool_for_tests()).await.unwrap();
            rounds.store(round, Ordering::Relaxed);
            if over.load(Ordering::Relaxed) {
                break;
            }
        }
    };
    let search = Search::parse("labels.env = 'dev' and name like '%s%'").unwrap();
    let columns = [
        KeysetColumn::CreatedTime,
        KeysetColumn::Name,
        KeysetColumn::Id,
    ];
    let walks = async {
        // Reads are faster than writes: every walk is walked until there was something to disturb it.
        for column in columns.into_iter().cycle() {
            for direction in [Direction::Ascending, Direction::Descending] {
                for search in [None, Some(&search)] {
                    let order = KeysetOrder { column, direction };
                    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
                    let mut after = None;
                    loop {
                        let query = StretchQuery {
                            filter: ResourceFilter { search, ..CLUSTERS },
                            order,
                            after: after.as_ref(),
                            limit: 7,
                            fields: None,
                        };
                        let (items, next) = fleet.store.stretch(&query).await.unwrap();
                        for item in &items {
                            *seen.entry(name(item).to_owned()).or_default() += 1;
                        }
                        after = next;
                        if after.is_none() {
                            break;
                        }
                    }
                    for name in staying.keys() {
                        assert_eq!(seen.get(name), Some(&1), "{name} by {order:?}");
                    }
                }
            }
            if column == KeysetColumn::Id && rounds.load(Ordering::Relaxed) > 2 {
                break;
            }
        }
        over.store(true, Ordering::Relaxed);
    };
    tokio::join!(noise, walks);
}

use std::collections::BTreeMap;

use chrono::TimeDelta;
use hyperfleet_core::generation::Generation;
use proptest::prelude::*;

use super::*;

fn at(seconds: i64) -> Time {
    Time::UNIX_EPOCH + TimeDelta::seconds(seconds)
}

fn seen(pass: u32) -> Seen {
    Seen {
        view: View {
            generation: Generation::FIRST,
            deleting: false,
            ready: false,
            updated_time: at(0),
            reported: false,
            progress: 0,
            last_updated_time: at(0),
        },
        digest: 1,
        kept: Box::default(),
        pass,
    }
}

fn due(table: &mut Table, now: i64) -> Vec<String> {
    std::iter::from_fn(|| {
        let key = table.pop_due(at(now))?;
        Some(table.get(key)?.id.to_string())
    })
    .collect()
}

#[test]
fn timers_go_off_in_order_and_not_early() {
    let mut table = Table::default();
    for (id, seconds) in [("c", 3), ("a", 1), ("b", 2)] {
        let key = table.observe(id, seen(1));
        table.arm(key, at(seconds));
    }
    assert_eq!(table.next_due(), Some(at(1)));
    assert_eq!(due(&mut table, 2), ["a", "b"]);
    assert_eq!(due(&mut table, 2), [""; 0]);
    assert_eq!(due(&mut table, 3), ["c"]);
}

#[test]
fn a_replaced_timer_is_void() {
    let mut table = Table::default();
    let key = table.observe("a", seen(1));
    table.arm(key, at(1));
    table.arm(key, at(5));
    assert_eq!(due(&mut table, 4), [""; 0]);
    assert_eq!(due(&mut table, 5), ["a"]);
}

#[test]
fn a_resource_that_went_has_no_timer_and_its_slot_is_another_ones() {
    let mut table = Table::default();
    let old = table.observe("old", seen(1));
    table.arm(old, at(1));
    table.remove(old);
    let new = table.observe("new", seen(2));
    assert_eq!(old.slot, new.slot);
    assert!(table.get(old).is_none());
    assert_eq!(due(&mut table, 10), [""; 0]);
    assert_eq!((table.len(), table.slots.len()), (1, 1));
}

#[test]
fn those_not_seen_since_a_pass_go() {
    let mut table = Table::default();
    table.observe("a", seen(1));
    table.observe("b", seen(2));
    table.observe("c", seen(1));
    table.observe("c", seen(3));
    assert_eq!(table.remove_older(2), 1);
    assert!(table.find("a").is_none() && table.find("b").is_some() && table.find("c").is_some());
}

#[test]
fn a_child_resource_takes_less_than_700_bytes() {
    let id = "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b";
    let resource = serde_json::json!({
        "id": id, "kind": "NodePool", "name": "pool", "generation": 12,
        "href": format!("/api/hyperfleet/v1/clusters/{id}/nodepools/{id}"),
        "owner_references": {"id": id, "kind": "Cluster", "href": format!("/api/hyperfleet/v1/clusters/{id}")},
        "spec": {"much": "x".repeat(5000)},
    });
    let payload = crate::payload::Payload::compile(None, "nodepools").unwrap();
    let kept = payload.projection().keep(&resource).len();
    let entry = size_of::<Option<Entry>>();
    // An index is at worst half full; of timers there are at worst two per resource.
    let index = 2 * (size_of::<(Id, u32)>() + 1);
    let timers = 2 * size_of::<(i64, u32, u32, u32)>();
    let total = entry + kept + index + timers;
    println!(
        "entry {entry} + kept {kept} + index {index} + timers {timers} = {total} bytes per resource"
    );
    assert!(total < 700, "{total}");
}

#[test]
fn re_arming_for_ever_does_not_fill_the_memory() {
    let mut table = Table::default();
    let key = table.observe("a", seen(1));
    for seconds in 0..10_000 {
        table.arm(key, at(seconds));
    }
    assert!(table.timers.len() <= 1028, "{}", table.timers.len());
    assert_eq!(due(&mut table, 9_998), [""; 0]);
    assert_eq!(due(&mut table, 9_999), ["a"]);
}

proptest! {
    #[test]
    fn every_resource_goes_off_once_at_its_last_moment(
        steps in prop::collection::vec((0u8..20, prop::option::of(0i64..50)), 0..200),
    ) {
        let mut table = Table::default();
        let mut model: BTreeMap<String, i64> = BTreeMap::new();
        for (id, moment) in steps {
            let id = id.to_string();
            match moment {
                Some(moment) => {
                    let key = table.observe(&id, seen(1));
                    table.arm(key, at(moment));
                    model.insert(id, moment);
                }
                None => {
                    if let Some(key) = table.find(&id) {
                        table.remove(key);
                    }
                    model.remove(&id);
                }
            }
        }
        for now in 0..50 {
            let mut fired = due(&mut table, now);
            fired.sort();
            let expected: Vec<String> =
                model.iter().filter(|(_, moment)| **moment == now).map(|(id, _)| id.clone()).collect();
            prop_assert_eq!(fired, expected);
        }
        prop_assert_eq!(table.len(), model.len());
    }
}

#[test]
fn ids_have_their_own_share_of_the_jitter_and_use_all_of_it() {
    let spread = |number: u32| Id::new(&format!("c{number}")).spread();
    let spreads: Vec<f64> = (0..1000).map(spread).collect();
    assert!(spreads.iter().all(|spread| (0.0..=1.0).contains(spread)));
    let mean = spreads.iter().sum::<f64>() / 1000.0;
    assert!((0.45..0.55).contains(&mean), "{mean}");
    assert_eq!(spread(7), spread(7));
}

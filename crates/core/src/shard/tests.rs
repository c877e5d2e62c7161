use proptest::prelude::*;
use uuid::Uuid;

use super::*;

#[test]
fn the_shard_of_an_id_never_changes() {
    let shard = |id: &str| Shard::of(id.as_bytes()).0;
    assert_eq!(
        ["", "a", "c1", "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b"].map(shard),
        [59, 32, 18, 18]
    );
}

#[test]
fn ids_made_one_after_another_spread_over_all_shards() {
    let mut count = [0_u32; 64];
    for number in 0..64_000_u128 {
        let id = Uuid::from_u128(0x0192_e4f0_7b1c_7d3a_8f7e_0000_0000_0000 + number);
        count[usize::from(Shard::of(id.as_bytes()).0)] += 1;
    }
    assert!(
        count.iter().all(|count| (850..1150).contains(count)),
        "{count:?}"
    );
}

#[test]
fn a_set_is_written_as_numbers_and_refuses_what_is_none() {
    let set: Shards = serde_json::from_str("[63, 0, 5, 5]").unwrap();
    assert_eq!(serde_json::to_string(&set).unwrap(), "[0,5,63]");
    let error = serde_json::from_str::<Shards>("[64]").unwrap_err();
    assert!(error.to_string().starts_with("there is no shard 64"));
}

#[test]
fn one_alone_has_everything() {
    let alone = assign(Shards::NONE, false, &[]);
    assert_eq!(
        (alone.held, alone.share, alone.more),
        (Shards::ALL, 64, false)
    );
}

#[test]
fn who_joins_gets_its_share_when_the_other_lets_go() {
    let first = Member {
        held: Shards::ALL,
        leaving: false,
    };
    let joined = assign(Shards::NONE, false, &[first]);
    assert_eq!(
        (joined.held, joined.share, joined.more),
        (Shards::NONE, 32, true)
    );
    let second = Member {
        held: joined.held,
        leaving: false,
    };
    let told = assign(first.held, false, &[second]);
    assert_eq!(
        (told.held.count(), told.share),
        (64, 32),
        "it lets go itself"
    );
    let first = Member {
        held: told.held.first(told.share),
        leaving: false,
    };
    let settled = assign(joined.held, false, &[first]);
    assert_eq!((settled.held.count(), settled.more), (32, false));
}

#[test]
fn who_leaves_keeps_what_it_has_until_it_is_gone() {
    let (half, other) = (
        Shards::from_bits(0xffff_ffff),
        Shards::from_bits(0xffff_ffff << 32),
    );
    let staying = Member {
        held: other,
        leaving: false,
    };
    let leaving = assign(half, true, &[staying]);
    assert_eq!((leaving.held, leaving.share), (half, 0));
    let left = Member {
        held: half,
        leaving: true,
    };
    let waiting = assign(other, false, &[left]);
    assert_eq!(
        (waiting.held, waiting.share, waiting.more),
        (other, 64, true)
    );
    assert_eq!(assign(other, false, &[]).held, Shards::ALL);
}

/// Members that speak one after another, in any order, as the store lets them.
fn settle(members: &mut [Member], turns: &[usize]) {
    let count = members.len();
    for turn in turns.iter().map(|turn| turn % count) {
        let me = members[turn];
        let others: Vec<Member> = (0..count)
            .filter(|other| *other != turn)
            .map(|other| members[other])
            .collect();
        // What is above the share is let go at once.
        let told = assign(me.held, me.leaving, &others);
        let keep = told
            .held
            .first(told.share.max(if me.leaving { 64 } else { 0 }));
        members[turn].held = assign(keep, me.leaving, &others).held;
    }
}

proptest! {
    #[test]
    fn no_shard_has_two_holders_whatever_the_order(
        count in 1_usize..20,
        leaving in prop::collection::vec(any::<bool>(), 20),
        turns in prop::collection::vec(any::<usize>(), 0..100),
    ) {
        let mut members: Vec<Member> = (0..count)
            .map(|number| Member { held: Shards::NONE, leaving: leaving[number] })
            .collect();
        settle(&mut members, &turns);
        let total: u32 = members.iter().map(|member| member.held.count()).sum();
        let union = members.iter().fold(Shards::NONE, |all, member| all.with(member.held));
        prop_assert_eq!(union.count(), total);
    }

    #[test]
    fn when_all_have_spoken_twice_everything_is_held_in_fair_shares(
        before in prop::collection::vec(any::<usize>(), 0..50),
        count in 1_usize..70,
    ) {
        let mut members = vec![Member { held: Shards::NONE, leaving: false }; count];
        settle(&mut members, &before);
        let all: Vec<usize> = (0..count).chain(0..count).collect();
        settle(&mut members, &all);
        let fair = Shards::COUNT.div_ceil(u32::try_from(count).unwrap());
        prop_assert!(members.iter().all(|member| member.held.count() <= fair));
        let union = members.iter().fold(Shards::NONE, |all, member| all.with(member.held));
        prop_assert_eq!(union, Shards::ALL);
    }
}

use super::*;
use crate::kind::{OnParentDelete, Registry};

fn told(kinds: Vec<Kind>) -> Vec<String> {
    let errors = Registry::new(kinds).unwrap_err();
    errors
        .iter()
        .map(|error| format!("{}: {error}", error.pointer))
        .collect()
}

fn rule(ref_type: &str, target: &str, min: u32, max: u32) -> ReferenceRule {
    ReferenceRule {
        ref_type: ref_type.to_owned(),
        target_kind: target.to_owned(),
        min,
        max,
        strength: Strength::Strong,
        on_target_delete: OnTargetDelete::Unreconcile,
    }
}

fn child(kind: Kind, parent: &str) -> Kind {
    Kind {
        parent_kind: Some(parent.to_owned()),
        on_parent_delete: Some(OnParentDelete::Restrict),
        ..kind
    }
}

#[test]
fn the_default_kinds_fit_together() {
    let registry = Registry::new(Kind::defaults()).unwrap();
    assert_eq!(registry.plural("nodepools").unwrap().kind, "NodePool");
    assert_eq!(registry.children("Cluster").count(), 1);
}

#[test]
fn every_mistake_is_told_at_once_with_its_place() {
    let mut kinds = Kind::defaults();
    kinds[0].parent_kind = Some("NodePool".to_owned());
    kinds[1].plural = "resources".to_owned();
    kinds[1].name_max_len = 1;
    kinds.push(Kind::new("Cluster", "clusters"));
    kinds.push(child(Kind::new("Version", "versions"), "Chanel"));
    assert_eq!(
        told(kinds),
        [
            "/1/plural: plural `resources` of kind `NodePool` is a path of the API itself",
            "/1/name_max_len: kind `NodePool`: name_max_len 1 is less than name_min_len 3",
            "/2/kind: kind `Cluster` is configured twice",
            "/2/plural: plural `clusters` of kind `Cluster` is taken by kind `Cluster`",
            "/0/parent_kind: kind `Cluster` is its own ancestor",
            "/0/on_parent_delete: kind `Cluster` has a parent and must say what happens to it with `on_parent_delete`",
            "/1/parent_kind: kind `NodePool` is its own ancestor",
            "/3/parent_kind: kind `Version` names the parent kind `Chanel`, which is not configured",
        ]
    );
}

#[test]
fn a_kind_is_not_its_own_ancestor() {
    let told = told(vec![
        child(Kind::new("A", "as"), "B"),
        child(Kind::new("B", "bs"), "C"),
        child(Kind::new("C", "cs"), "B"),
    ]);
    // A hangs below the cycle and is not part of it.
    assert_eq!(
        told,
        [
            "/1/parent_kind: kind `B` is its own ancestor",
            "/2/parent_kind: kind `C` is its own ancestor",
        ]
    );
}

#[test]
fn names_must_fit_into_paths() {
    for plural in [
        "", "a b", "{id}", "a/b", "-a", "Clusters", "statuses", "audit",
    ] {
        assert_eq!(told(vec![Kind::new("A", plural)]).len(), 1, "{plural:?}");
    }
    for kind in ["", "Resource", "9a", "a-b", "ä", &"a".repeat(101)] {
        assert_eq!(told(vec![Kind::new(kind, "as")]).len(), 1, "{kind:?}");
    }
}

#[test]
fn references_must_point_at_kinds_and_be_countable() {
    let mut source = Kind::new("Source", "sources");
    source.references = vec![
        rule("dep", "Target", 1, 1),
        rule("dep", "Nothing", 0, 0),
        rule("many", "Target", 3, 2),
        ReferenceRule {
            on_target_delete: OnTargetDelete::Delete,
            ..rule("firm", "Target", 0, 0)
        },
    ];
    assert_eq!(
        told(vec![source, Kind::new("Target", "targets")]),
        [
            "/0/references/1/ref_type: kind `Source` has the reference type `dep` twice",
            "/0/references/1/target_kind: kind `Source`: reference `dep` points at the kind `Nothing`, which is not \
             configured",
            "/0/references/2/max: kind `Source`: reference `many` allows at most 2 targets but needs 3",
            "/0/references/3/on_target_delete: kind `Source`: reference `firm` is strong, so its target cannot go and \
             `on_target_delete` means nothing",
        ]
    );
}

#[test]
fn nothing_may_need_itself_before_it_can_be_created() {
    let with = |mut kind: Kind, rules: &[ReferenceRule]| {
        kind.references = rules.to_vec();
        kind
    };
    assert_eq!(
        told(vec![with(Kind::new("A", "as"), &[rule("self", "A", 1, 0)])]),
        ["/0/references/0/min: no A can ever be created: A needs a A"]
    );
    // A parent that requires one of its children.
    assert_eq!(
        told(vec![
            with(Kind::new("A", "as"), &[rule("first", "C", 1, 0)]),
            child(Kind::new("B", "bs"), "A"),
            child(Kind::new("C", "cs"), "B"),
        ]),
        ["/0/references/0/min: no A can ever be created: A needs a C needs a B needs a A"]
    );
    // Optional references may go in circles.
    let circle = vec![
        with(Kind::new("A", "as"), &[rule("b", "B", 0, 0)]),
        with(Kind::new("B", "bs"), &[rule("a", "A", 1, 0)]),
    ];
    assert!(Registry::new(circle).is_ok());
}

#[test]
fn a_short_name_means_one_kind_and_is_no_other_name() {
    let mut kinds = Kind::defaults();
    kinds[0].short_names = ["c", "nodepool", "C!", "c"].map(str::to_owned).to_vec();
    kinds[1].short_names = ["np", "c", "clusters"].map(str::to_owned).to_vec();
    assert_eq!(
        told(kinds),
        [
            "/0/short_names/1: short name `nodepool` of kind `Cluster` already means NodePool",
            "/0/short_names/2: `C!` cannot be a short name: lowercase letters, digits and hyphens, beginning and \
             ending with a letter or digit, at most 100",
            "/0/short_names/3: short name `c` of kind `Cluster` already means Cluster",
            "/1/short_names/1: short name `c` of kind `NodePool` already means Cluster",
            "/1/short_names/2: short name `clusters` of kind `NodePool` already means Cluster",
        ]
    );
}

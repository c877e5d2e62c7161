//! What can be wrong with a set of kinds.

/// A mistake, and where it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{mistake}")]
pub struct RegistryError {
    /// The offending value as a JSON pointer into the list of kinds: `/1/references/0/max`.
    pub pointer: String,
    pub mistake: Mistake,
}

/// Why a set of kinds cannot be served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    #[error("`{field}` must not be empty")]
    Empty { field: &'static str },
    #[error("`{0}` cannot be a kind: a letter, then letters and digits, at most 100")]
    NotAKind(String),
    #[error("no kind can be called `{0}`: that word stands for all of them")]
    KindReserved(String),
    #[error("kind `{0}` is configured twice")]
    DuplicateKind(String),
    #[error(
        "`{0}` cannot be a plural: lowercase letters, digits and hyphens, beginning and ending with a letter or digit, \
         at most 100"
    )]
    NotAPlural(String),
    #[error("plural `{plural}` of kind `{kind}` is a path of the API itself")]
    PluralReserved { kind: String, plural: String },
    #[error("plural `{plural}` of kind `{kind}` is taken by kind `{taken_by}`")]
    PluralTaken {
        kind: String,
        plural: String,
        taken_by: String,
    },
    #[error(
        "`{0}` cannot be a short name: lowercase letters, digits and hyphens, beginning and ending with a letter or \
         digit, at most 100"
    )]
    NotAShortName(String),
    #[error("short name `{name}` of kind `{kind}` already means {means}")]
    ShortNameTaken {
        kind: String,
        name: String,
        means: String,
    },
    #[error("kind `{kind}` names the parent kind `{parent}`, which is not configured")]
    UnknownParent { kind: String, parent: String },
    #[error("kind `{0}` is its own ancestor")]
    ParentCycle(String),
    #[error("kind `{kind}` has a parent and must say what happens to it with `on_parent_delete`")]
    NoDeletePolicy { kind: String },
    #[error("kind `{kind}` has no parent, so `on_parent_delete` means nothing")]
    DeletePolicyWithoutParent { kind: String },
    #[error("kind `{kind}`: name_max_len {max} is less than name_min_len {min}")]
    NameLength {
        kind: String,
        min: usize,
        max: usize,
    },
    #[error("kind `{kind}` requires the adapter `{adapter}` twice")]
    DuplicateAdapter { kind: String, adapter: String },
    #[error("kind `{kind}` has the reference type `{ref_type}` twice")]
    DuplicateReference { kind: String, ref_type: String },
    #[error(
        "kind `{kind}`: reference `{ref_type}` points at the kind `{target}`, which is not configured"
    )]
    UnknownTarget {
        kind: String,
        ref_type: String,
        target: String,
    },
    #[error("kind `{kind}`: reference `{ref_type}` allows at most {max} targets but needs {min}")]
    ReferenceCount {
        kind: String,
        ref_type: String,
        min: u32,
        max: u32,
    },
    #[error(
        "kind `{kind}`: reference `{ref_type}` is strong, so its target cannot go and `on_target_delete` means nothing"
    )]
    TargetPolicyOfStrong { kind: String, ref_type: String },
    #[error("no {kind} can ever be created: {}", through.join(" needs a "))]
    RequiredCycle { kind: String, through: Vec<String> },
    #[error(
        "kind `{kind}` has both `spec_schema` and `spec_schema_file`; only one can be its schema"
    )]
    TwoSchemas { kind: String },
}

impl Mistake {
    /// The name that no kind has, for a suggestion.
    pub fn unknown_kind(&self) -> Option<&str> {
        match self {
            Mistake::UnknownParent { parent, .. } => Some(parent),
            Mistake::UnknownTarget { target, .. } => Some(target),
            _ => None,
        }
    }
}

//! The kinds a server has, and what people call them.

use hyperfleet_source::suggest;
use serde::Deserialize;
use serde_json::Value;

use super::exit::Exit;
use super::failure::Failure;

/// The path and the word for every kind at once.
const EVERY: &str = "resources";

/// One kind, as the server tells it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct KindInfo {
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    #[serde(default)]
    pub(crate) short_names: Vec<String>,
    #[serde(default)]
    pub(crate) parent_kind: Option<String>,
    #[serde(default)]
    pub(crate) on_parent_delete: Option<String>,
    #[serde(default)]
    pub(crate) required_adapters: Vec<String>,
}

impl KindInfo {
    /// Stands for all of them.
    fn every() -> KindInfo {
        KindInfo {
            kind: "Resource".to_owned(),
            plural: EVERY.to_owned(),
            singular: "resource".to_owned(),
            short_names: vec!["all".to_owned()],
            parent_kind: None,
            on_parent_delete: None,
            required_adapters: Vec::new(),
        }
    }

    pub(crate) fn is_every(&self) -> bool {
        self.plural == EVERY
    }

    fn is_called(&self, word: &str) -> bool {
        let is = |name: &str| name.eq_ignore_ascii_case(word);
        is(&self.plural)
            || is(&self.singular)
            || is(&self.kind)
            || self.short_names.iter().any(|name| is(name))
    }
}

/// All kinds of a server.
#[derive(Debug, Clone)]
pub(crate) struct Kinds {
    kinds: Vec<KindInfo>,
    every: KindInfo,
}

impl Kinds {
    pub(crate) fn new(kinds: Vec<KindInfo>) -> Kinds {
        Kinds {
            kinds,
            every: KindInfo::every(),
        }
    }

    /// From what the server says it is; `None` from one that does not tell its kinds there.
    pub(crate) fn from_metadata(metadata: &Value) -> Option<Kinds> {
        let kinds = metadata.get("kinds")?.clone();
        serde_json::from_value(kinds).ok().map(Kinds::new)
    }

    /// From the paths of a contract, for servers that say no more: `/clusters/{cluster_id}/nodepools`, and the kind
    /// that a body must name where it can be seen.
    pub(crate) fn from_contract(openapi: &Value) -> Kinds {
        let mut kinds: Vec<KindInfo> = Vec::new();
        let paths = openapi["paths"].as_object().into_iter().flatten();
        for (path, operations) in paths.filter(|(_, operations)| operations.get("post").is_some()) {
            let Some(tail) = path.strip_prefix("/api/hyperfleet/v1/") else {
                continue;
            };
            let segments: Vec<&str> = tail.split('/').collect();
            let (parent, plural) = match segments.as_slice() {
                [plural] if *plural != EVERY => (None, *plural),
                [parent, id, plural] if id.starts_with('{') => (Some(*parent), *plural),
                _ => continue,
            };
            if matches!(plural, "statuses" | "force-delete") {
                continue;
            }
            let tag = operations["post"]["tags"][0].as_str();
            let kind = tag.map_or_else(|| plural.trim_end_matches('s').to_owned(), str::to_owned);
            let parent_kind = parent.and_then(|parent| {
                let found = kinds.iter().find(|kind| kind.plural == parent)?;
                Some(found.kind.clone())
            });
            match kinds.iter_mut().find(|known| known.plural == plural) {
                Some(known) => known.parent_kind = known.parent_kind.take().or(parent_kind),
                None => kinds.push(KindInfo {
                    singular: kind.to_lowercase(),
                    kind,
                    plural: plural.to_owned(),
                    short_names: Vec::new(),
                    parent_kind,
                    on_parent_delete: None,
                    required_adapters: Vec::new(),
                }),
            }
        }
        Kinds::new(kinds)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &KindInfo> {
        self.kinds.iter()
    }

    /// What a person means by a word: plural, singular, kind or short name, in any case.
    pub(crate) fn named(&self, word: &str) -> Result<&KindInfo, Failure> {
        let mut known = self.kinds.iter().chain([&self.every]);
        known.find(|kind| kind.is_called(word)).ok_or_else(|| {
            let names = self.kinds.iter().flat_map(|kind| {
                let names = [kind.plural.as_str(), kind.singular.as_str()];
                names
                    .into_iter()
                    .chain(kind.short_names.iter().map(String::as_str))
            });
            let failure = Failure::new(
                Exit::Usage,
                format!("the server has no kind called `{word}`"),
            );
            match suggest::nearest(word, names) {
                Some(near) => failure.hint(format!("did you mean `{near}`?")),
                None => failure.hint("`hyperfleet api-resources` lists the kinds there are"),
            }
        })
    }

    /// The kind of this name, as a resource says it.
    pub(crate) fn of(&self, kind: &str) -> Option<&KindInfo> {
        self.kinds.iter().find(|known| known.kind == kind)
    }

    pub(crate) fn children_of<'a>(
        &'a self,
        kind: &str,
    ) -> impl Iterator<Item = &'a KindInfo> + use<'a> {
        let kind = Some(kind.to_owned());
        self.kinds
            .iter()
            .filter(move |child| child.parent_kind == kind)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kinds() -> Kinds {
        Kinds::from_metadata(&json!({"kinds": [
            {"kind": "Cluster", "plural": "clusters", "singular": "cluster", "short_names": ["cl"]},
            {"kind": "NodePool", "plural": "nodepools", "singular": "nodepool", "short_names": ["np"],
             "parent_kind": "Cluster", "on_parent_delete": "cascade", "required_adapters": ["dns"]},
        ]}))
        .unwrap()
    }

    #[test]
    fn a_kind_answers_to_all_its_names_in_any_case() {
        let kinds = kinds();
        for word in ["nodepools", "nodepool", "NodePool", "np", "NP"] {
            assert_eq!(kinds.named(word).unwrap().kind, "NodePool", "{word}");
        }
        assert!(kinds.named("all").unwrap().is_every());
        assert_eq!(kinds.children_of("Cluster").count(), 1);
    }

    #[test]
    fn a_misspelt_kind_finds_its_neighbour() {
        let told = kinds().named("clutsers").unwrap_err().to_string();
        assert!(told.ends_with("did you mean `clusters`?"), "{told}");
        let told = kinds().named("spaceship").unwrap_err().to_string();
        assert!(told.contains("api-resources"), "{told}");
    }

    #[test]
    fn an_older_servers_kinds_are_read_from_its_contract() {
        let post = |tag: &str| json!({"post": {"tags": [tag]}});
        let contract = json!({"paths": {
            "/api/hyperfleet/v1/clusters": post("Cluster"),
            "/api/hyperfleet/v1/clusters/{id}": {"get": {}},
            "/api/hyperfleet/v1/clusters/{id}/nodepools": post("NodePool"),
            "/api/hyperfleet/v1/clusters/{id}/statuses": post("Cluster"),
            "/api/hyperfleet/v1/resources": post("All kinds"),
        }});
        let kinds = Kinds::from_contract(&contract);
        let told: Vec<(&str, Option<&str>)> = kinds
            .iter()
            .map(|kind| (kind.plural.as_str(), kind.parent_kind.as_deref()))
            .collect();
        assert_eq!(told, [("clusters", None), ("nodepools", Some("Cluster"))]);
    }
}

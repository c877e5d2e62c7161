//! Which resources this Sentinel is responsible for.

use std::collections::BTreeMap;

use crate::options::Selector;

/// The selector in the API's search language; `None` means everything.
///
/// Sorted by label, so that the same selector is always the same query.
pub(crate) fn search(selector: &[Selector]) -> Option<String> {
    let terms: Vec<String> = unique(selector)
        .into_iter()
        .map(|(label, value)| format!("labels.{label}='{}'", value.replace('\'', "''")))
        .collect();
    (!terms.is_empty()).then(|| terms.join(" and "))
}

/// Whether a resource with these labels is meant. An API that does not know `search` answers with
/// everything; without this, every shard would then send everything.
pub(crate) fn selects(selector: &[Selector], labels: &BTreeMap<String, String>) -> bool {
    unique(selector)
        .into_iter()
        .all(|(label, value)| labels.get(label).is_some_and(|found| found == value))
}

/// Of two entries for one label the last one counts, and an entry without a label does not.
pub(crate) fn unique(selector: &[Selector]) -> BTreeMap<&str, &str> {
    selector
        .iter()
        .filter(|entry| !entry.label.is_empty())
        .map(|entry| (entry.label.as_str(), entry.value.as_str()))
        .collect()
}

/// The selector as a metric label and in logs: in the order of the configuration.
pub(crate) fn label(selector: &[Selector]) -> String {
    if selector.is_empty() {
        return "all".to_owned();
    }
    let pairs: Vec<String> = selector
        .iter()
        .map(|entry| format!("{}:{}", entry.label, entry.value))
        .collect();
    pairs.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(label: &str, value: &str) -> Selector {
        Selector {
            label: label.to_owned(),
            value: value.to_owned(),
        }
    }

    #[test]
    fn a_selector_is_a_search_for_all_of_its_labels() {
        let selector = [
            entry("region", "us"),
            entry("env", "it's"),
            entry("", "x"),
            entry("region", "eu"),
        ];
        assert_eq!(
            search(&selector).as_deref(),
            Some("labels.env='it''s' and labels.region='eu'")
        );
        assert_eq!(search(&[]), None);
        assert_eq!(search(&[entry("", "x")]), None);
    }

    #[test]
    fn a_resource_is_selected_by_all_of_the_labels() {
        let labels = |pairs: &[(&str, &str)]| {
            pairs
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect()
        };
        let selector = [entry("region", "us"), entry("env", "dev"), entry("", "x")];
        assert!(selects(
            &selector,
            &labels(&[("region", "us"), ("env", "dev"), ("more", "")])
        ));
        assert!(!selects(&selector, &labels(&[("region", "us")])));
        assert!(!selects(
            &selector,
            &labels(&[("region", "eu"), ("env", "dev")])
        ));
        assert!(selects(&[], &labels(&[])));
    }

    #[test]
    fn the_metric_label_keeps_the_order_of_the_configuration() {
        assert_eq!(label(&[]), "all");
        assert_eq!(
            label(&[entry("region", "us"), entry("env", "dev")]),
            "region:us,env:dev"
        );
    }
}

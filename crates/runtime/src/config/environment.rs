//! Which variable sets which key.

use std::collections::{BTreeMap, BTreeSet};

use hyperfleet_source::schema::Leaf;
use hyperfleet_source::suggest;

use super::ConfigError;
use super::overlay::Setting;

const PREFIX: &str = "HYPERFLEET_";

/// Variables that are no configuration keys but mean something to every process.
const RESERVED: [&str; 2] = ["HYPERFLEET_HOME", "HYPERFLEET_CONFIG"];

/// `HYPERFLEET_SERVER_PORT` for `server.port`.
pub(super) fn generic_name(leaf: &Leaf) -> String {
    format!("{PREFIX}{}", leaf.path.join("_").to_uppercase())
}

/// The values that are set, lowest precedence first.
pub(super) fn settings(
    environment: &BTreeMap<String, String>,
    aliases: &[(String, String)],
    leaves: &[Leaf],
) -> Result<Vec<Setting>, ConfigError> {
    let generic = leaves
        .iter()
        .map(|leaf| (generic_name(leaf), leaf.dotted()));
    generic
        .chain(aliases.iter().rev().cloned())
        .filter_map(|(name, path)| Some((environment.get(&name)?, name, path)))
        .map(|(text, name, path)| Setting::new(format!("environment {name}"), &path, text, leaves))
        .collect()
}

/// Remarks on variables that nobody knows but that look like one that is known. Others pass in
/// silence: components share their environment.
pub(super) fn misspelt(
    environment: &BTreeMap<String, String>,
    aliases: &[(String, String)],
    leaves: &[Leaf],
    file_variables: &[String],
) -> Vec<String> {
    let known: BTreeSet<String> = leaves
        .iter()
        .map(generic_name)
        .chain(aliases.iter().map(|(name, _)| name.clone()))
        .chain(file_variables.iter().cloned())
        .chain(RESERVED.map(str::to_owned))
        .collect();
    let strip = |name: &str| name.strip_prefix(PREFIX).map(str::to_owned);
    let words: Vec<String> = known.iter().filter_map(|name| strip(name)).collect();
    environment
        .keys()
        .filter(|name| !known.contains(*name))
        .filter_map(|name| {
            let word = strip(name)?;
            // Names of one program share most of their letters; two edits already mean another.
            let near = suggest::nearest_within(&word, words.iter().map(String::as_str), 2)?;
            Some(format!(
                "the environment variable {name} is not known; did you mean {PREFIX}{near}?"
            ))
        })
        .collect()
}

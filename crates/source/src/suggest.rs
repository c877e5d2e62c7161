//! "Did you mean …?"

/// The candidate that `word` most probably misspells, if one is near enough to be worth saying.
///
/// Spelling conventions (`baseUrl`, `base-url`, `BASE_URL`) count as equal; otherwise at most one
/// edit in three characters is forgiven.
pub fn nearest<'a, I>(word: &str, candidates: I) -> Option<&'a str>
where
    I: IntoIterator<Item = &'a str>,
{
    nearest_within(word, candidates, (fold(word).chars().count() / 3).max(1))
}

/// The candidate at most `allowed` edits away from `word` that is nearest to it.
pub fn nearest_within<'a, I>(word: &str, candidates: I, allowed: usize) -> Option<&'a str>
where
    I: IntoIterator<Item = &'a str>,
{
    let plain = fold(word);
    candidates
        .into_iter()
        .filter(|candidate| *candidate != word)
        .map(|candidate| (strsim::osa_distance(&plain, &fold(candidate)), candidate))
        .filter(|(distance, candidate)| {
            // Two one-letter names always are one edit apart; that is no misspelling.
            *distance <= allowed && *distance < candidate.chars().count().max(1)
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The help line for an unknown `word`: the nearest candidate, else all of them.
pub fn help<'a, I>(word: &str, candidates: I) -> Option<String>
where
    I: IntoIterator<Item = &'a str>,
    I::IntoIter: Clone,
{
    let candidates = candidates.into_iter();
    if let Some(near) = nearest(word, candidates.clone()) {
        return Some(format!("did you mean `{near}`?"));
    }
    let known: Vec<String> = candidates.map(|name| format!("`{name}`")).collect();
    match known.as_slice() {
        [] => None,
        [only] => Some(format!("the only known name here is {only}")),
        many => Some(format!("known names here: {}", many.join(", "))),
    }
}

fn fold(word: &str) -> String {
    word.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 4] = ["port", "host", "base_url", "shutdown_timeout"];

    #[test]
    fn a_misspelt_key_finds_its_neighbour() {
        assert_eq!(nearest("prot", KEYS), Some("port"));
        assert_eq!(nearest("baseUrl", KEYS), Some("base_url"));
        assert_eq!(nearest("shutdown_timout", KEYS), Some("shutdown_timeout"));
    }

    #[test]
    fn an_unrelated_word_finds_nothing_and_gets_the_list() {
        assert_eq!(nearest("colour", KEYS), None);
        assert_eq!(nearest("x", ["y"]), None);
        let help = help("colour", KEYS).unwrap();
        assert!(
            help.starts_with("known names here: `port`, `host`"),
            "{help}"
        );
    }
}

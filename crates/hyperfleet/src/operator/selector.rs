//! `-l`: a label selector as kubectl takes it, in the words of the search language.

use super::fleet::quoted;

/// What a selector asks for: `env=prod,tier!=web,region in (eu, us),!old`.
pub(crate) fn to_search(selector: &str) -> Result<String, String> {
    let terms: Result<Vec<String>, String> = split(selector).into_iter().map(term).collect();
    Ok(terms?.join(" AND "))
}

/// At commas outside parentheses.
fn split(selector: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let (mut start, mut depth) = (0, 0i32);
    for (at, c) in selector.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                terms.push(&selector[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    terms.push(&selector[start..]);
    terms
}

fn term(term: &str) -> Result<String, String> {
    let term = term.trim();
    let label = |key: &str| -> Result<String, String> {
        let key = key.trim();
        match hyperfleet_core::label::key_error(key) {
            Some(wrong) => Err(format!("in the selector `{term}`: {wrong}")),
            None => Ok(format!("labels[{}]", quoted(key))),
        }
    };
    if let Some(key) = term.strip_prefix('!') {
        return Ok(format!("{} IS NULL", label(key)?));
    }
    // What is not there is also not equal, as Kubernetes sees it.
    let unless = |label: &str, rest: String| format!("({label} {rest} OR {label} IS NULL)");
    if let Some((key, value)) = term.split_once("!=") {
        let label = label(key)?;
        return Ok(unless(&label, format!("!= {}", quoted(value.trim()))));
    }
    if let Some((key, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
        return Ok(format!("{} = {}", label(key)?, quoted(value.trim())));
    }
    let Some((before, set)) = term.split_once('(') else {
        return Ok(format!("{} IS NOT NULL", label(term)?));
    };
    let values = set
        .strip_suffix(')')
        .ok_or_else(|| format!("in the selector `{term}`: the parenthesis does not end"))?;
    let values: Vec<String> = values
        .split(',')
        .map(|value| quoted(value.trim()))
        .collect();
    let values = values.join(", ");
    match before.trim().rsplit_once(char::is_whitespace) {
        Some((key, "in")) => Ok(format!("{} IN [{values}]", label(key)?)),
        Some((key, "notin")) => Ok(unless(&label(key)?, format!("NOT IN [{values}]"))),
        _ => Err(format!(
            "in the selector `{term}`: write `key in (…)` or `key notin (…)`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_mean_what_they_mean_to_kubectl() {
        let cases = [
            ("env=prod", "labels['env'] = 'prod'"),
            ("env==prod", "labels['env'] = 'prod'"),
            ("a=1, b", "labels['a'] = '1' AND labels['b'] IS NOT NULL"),
            ("!old", "labels['old'] IS NULL"),
            (
                "env!=dev",
                "(labels['env'] != 'dev' OR labels['env'] IS NULL)",
            ),
            (
                "hyperfleet.io/shard in (1, 2),x",
                "labels['hyperfleet.io/shard'] IN ['1', '2'] AND labels['x'] IS NOT NULL",
            ),
            (
                "t notin (a)",
                "(labels['t'] NOT IN ['a'] OR labels['t'] IS NULL)",
            ),
        ];
        for (selector, search) in cases {
            assert_eq!(to_search(selector).unwrap(), search, "{selector}");
            hyperfleet_core::search::Search::parse(search).unwrap();
        }
    }

    #[test]
    fn what_is_no_selector_is_refused() {
        for selector in ["", "=x", "a in b", "a of (b)", "a in (b", "a b=c", "it's=1"] {
            assert!(to_search(selector).is_err(), "{selector}");
        }
    }
}

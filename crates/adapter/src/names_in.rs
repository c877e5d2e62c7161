//! Names that occur in an expression.

/// Chains of names in an expression, `a.b.c` and `a.?b.?c`, without the functions called on them.
/// Reading the text rather than the syntax tree is good enough to explain an answer and to notice a
/// misspelt member.
pub(crate) fn paths(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut chars = source.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if c == '"' || c == '\'' {
            // Texts hold no names.
            for (_, other) in chars.by_ref() {
                if other == c {
                    break;
                }
            }
            continue;
        }
        if !(c.is_ascii_alphabetic() || c == '_') {
            continue;
        }
        let mut end = start + c.len_utf8();
        while let Some((at, c)) = chars.peek().copied() {
            if !(c.is_ascii_alphanumeric() || "_.?".contains(c)) {
                break;
            }
            end = at + c.len_utf8();
            chars.next();
        }
        let chain = source[start..end].replace('?', "");
        let chain = chain.trim_end_matches('.');
        let called = source[end..].starts_with('(');
        let path = match (called, chain.rsplit_once('.')) {
            (true, Some((receiver, _))) => receiver,
            (true, None) => continue,
            (false, _) => chain,
        };
        found.push(path.to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_functions_and_texts_are_not() {
        assert_eq!(
            paths(r#"a.b == "c.d" && x.?y.orValue(1) > size(z) || now() == t"#),
            ["a.b", "x.y", "z", "t"]
        );
    }
}

//! LIKE, as PostgreSQL does it.

use super::expr::LetterCase;

/// Whether the last backslash takes the meaning of nothing.
pub(super) fn ends_in_escape(pattern: &str) -> bool {
    let trailing = pattern.chars().rev().take_while(|c| *c == '\\').count();
    trailing % 2 == 1
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// `%`
    Any,
    /// `_`
    One,
    Exactly(char),
}

fn parts(pattern: &str) -> Vec<Part> {
    let mut parts = Vec::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        parts.push(match c {
            '%' => Part::Any,
            '_' => Part::One,
            '\\' => Part::Exactly(chars.next().unwrap_or('\\')),
            c => Part::Exactly(c),
        });
    }
    parts
}

/// Whether the whole text fits the pattern.
pub(super) fn matches(pattern: &str, case: LetterCase, text: &str) -> bool {
    match case {
        LetterCase::Exact => fits(&parts(pattern), text),
        LetterCase::Ignored => fits(
            &parts(&pattern.to_ascii_lowercase()),
            &text.to_ascii_lowercase(),
        ),
    }
}

/// Goes back to the last `%` only: what an earlier one swallows can be left to the last.
fn fits(parts: &[Part], text: &str) -> bool {
    let mut rest = text.chars();
    let mut at = 0;
    let mut retry: Option<(usize, std::str::Chars<'_>)> = None;
    loop {
        let here = rest.clone();
        match (parts.get(at), rest.next()) {
            (None, None) => return true,
            (Some(Part::Any), _) => {
                at += 1;
                retry = Some((at, here.clone()));
                rest = here;
            }
            (Some(Part::One), Some(_)) => at += 1,
            (Some(Part::Exactly(wanted)), Some(found)) if *wanted == found => at += 1,
            _ => {
                let Some((after, mut from)) = retry else {
                    return false;
                };
                if from.next().is_none() {
                    return false;
                }
                at = after;
                rest = from.clone();
                retry = Some((after, from));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_the_whole_text() {
        let like = |pattern, text| matches(pattern, LetterCase::Exact, text);
        assert!(like("", "") && !like("", "a") && like("%", "") && like("%%", "abc"));
        assert!(like("a%c", "abbc") && !like("a%c", "abcd") && like("%b%", "abc"));
        assert!(like("%ab", "aab") && like("%a_c%d", "xabcabd") && !like("_", ""));
        assert!(like("_", "é") && !like("__", "é"));
        assert!(like(r"100\%", "100%") && !like(r"100\%", "1000") && like(r"a\\", r"a\"));
        assert!(!like("ABC", "abc") && matches("aBc", LetterCase::Ignored, "AbC"));
        assert!(!matches("É", LetterCase::Ignored, "é"));
    }

    #[test]
    fn a_single_backslash_at_the_end_is_seen() {
        assert!(ends_in_escape(r"a\") && ends_in_escape(r"\\\"));
        assert!(!ends_in_escape(r"a\\") && !ends_in_escape("a") && !ends_in_escape(r"\%"));
    }
}

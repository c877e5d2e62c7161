//! Semantic versions and constraints on them, by the rules of the Go library
//! sprig uses: `>=1.28 <2`, `^1.2`, `~1.2.3`, `1.x`, `1.2 - 1.4`, `a || b`.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{Function, Outcome, plain, text};
use crate::template::context::{Context, Problem};
use crate::template::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    plain("semver", 1, 1, semver),
    plain("semverCompare", 2, 2, |_, a| {
        let version = text(a, 1)?;
        let version = parse(&version)
            .ok_or_else(|| Problem::from(format!("{version:?} is no semantic version")))?;
        Ok(allows(&text(a, 0)?, &version)?.into())
    }),
];

struct Version<'t> {
    numbers: [u64; 3],
    pre: &'t str,
    build: &'t str,
}

fn semver<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let original = text(args, 0)?;
    let version = parse(&original)
        .ok_or_else(|| Problem::from(format!("{original:?} is no semantic version")))?;
    let mut map = BTreeMap::new();
    for (name, number) in ["Major", "Minor", "Patch"].into_iter().zip(version.numbers) {
        map.insert(
            name.to_owned(),
            Value::Int(i64::try_from(number).unwrap_or(i64::MAX)),
        );
    }
    map.insert("Prerelease".to_owned(), version.pre.to_owned().into());
    map.insert("Metadata".to_owned(), version.build.to_owned().into());
    map.insert("Original".to_owned(), original.clone().into_owned().into());
    context.dict(map)
}

/// `v1.2`, `1.2.3-rc.1+build`: missing numbers are 0.
fn parse(text: &str) -> Option<Version<'_>> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (text, build) = text.split_once('+').unwrap_or((text, ""));
    let (core, pre) = text.split_once('-').unwrap_or((text, ""));
    let mut numbers = [0; 3];
    let parts: Vec<_> = core.split('.').collect();
    if parts.len() > 3 {
        return None;
    }
    for (number, part) in numbers.iter_mut().zip(parts) {
        if !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    let ident = |s: &str| {
        s.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.')
    };
    (ident(pre) && ident(build)).then_some(Version {
        numbers,
        pre,
        build,
    })
}

fn compare(a: &Version<'_>, b: &Version<'_>) -> Ordering {
    a.numbers
        .cmp(&b.numbers)
        .then_with(|| match (a.pre, b.pre) {
            (a, b) if a == b => Ordering::Equal,
            ("", _) => Ordering::Greater,
            (_, "") => Ordering::Less,
            (a, b) => {
                let (mut a, mut b) = (a.split('.'), b.split('.'));
                loop {
                    let order = match (a.next(), b.next()) {
                        (None, None) => return Ordering::Equal,
                        (None, _) => Ordering::Less,
                        (_, None) => Ordering::Greater,
                        (Some(a), Some(b)) => match (a.parse::<u64>(), b.parse::<u64>()) {
                            (Ok(a), Ok(b)) => a.cmp(&b),
                            (Ok(_), _) => Ordering::Less,
                            (_, Ok(_)) => Ordering::Greater,
                            _ => a.cmp(b),
                        },
                    };
                    if order != Ordering::Equal {
                        return order;
                    }
                }
            }
        })
}

/// One `operator version`; the version may leave out or star its last numbers.
struct Constraint<'t> {
    operator: &'t str,
    version: Version<'t>,
    /// How many numbers are given: 0 for `*`, 2 for `1.2.x`.
    given: usize,
}

fn allows(constraints: &str, version: &Version<'_>) -> Result<bool, Problem> {
    let mut any = false;
    for alternative in constraints.split("||") {
        let mut all = true;
        for constraint in all_of(alternative)? {
            all &= constraint.allows(version);
        }
        any |= all;
    }
    Ok(any)
}

fn all_of(text: &str) -> Result<Vec<Constraint<'_>>, Problem> {
    let bad = || Problem::from(format!("{text:?} is no version constraint"));
    // `1.2 - 1.4` is a range; a dash inside a version has no spaces around it.
    if let Some((from, to)) = text.split_once(" - ") {
        let from = constraint(">=", from.trim()).ok_or_else(bad)?;
        let to = constraint("<=", to.trim()).ok_or_else(bad)?;
        return Ok(vec![from, to]);
    }
    let mut rest = text.trim();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let version_at = rest
            .find(|c: char| !"=!<>~^ ".contains(c))
            .ok_or_else(bad)?;
        let operator = rest[..version_at].trim();
        rest = &rest[version_at..];
        let end = rest
            .find([' ', ',', '<', '>', '=', '!', '~', '^'])
            .unwrap_or(rest.len());
        found.push(constraint(operator, &rest[..end]).ok_or_else(bad)?);
        rest = rest[end..].trim_start_matches([' ', ',']);
    }
    if found.is_empty() {
        return Err(bad());
    }
    Ok(found)
}

fn constraint<'t>(operator: &'t str, text: &'t str) -> Option<Constraint<'t>> {
    if ![
        "", "=", "==", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^",
    ]
    .contains(&operator)
    {
        return None;
    }
    let bare = text.strip_prefix('v').unwrap_or(text);
    let core = bare.split(['-', '+']).next().unwrap_or(bare);
    let star = |part: &&str| matches!(*part, "x" | "X" | "*");
    let given = core.split('.').take_while(|part| !star(part)).count();
    let version = match core.split('.').any(|part| star(&part)) {
        false => parse(bare)?,
        true => {
            let kept = core.match_indices('.').nth(given.saturating_sub(1));
            let kept = kept.map_or(core.len(), |(at, _)| at);
            parse(if given == 0 { "0" } else { &core[..kept] })?
        }
    };
    Some(Constraint {
        operator,
        version,
        given,
    })
}

impl Constraint<'_> {
    fn allows(&self, version: &Version<'_>) -> bool {
        // A pre-release only satisfies a constraint that names one.
        if !version.pre.is_empty() && self.version.pre.is_empty() {
            return false;
        }
        let order = compare(version, &self.version);
        let [major, minor, patch] = version.numbers;
        let [want_major, want_minor, want_patch] = self.version.numbers;
        let partial = self.given < 3;
        match self.operator {
            "" | "=" | "==" if !partial => order == Ordering::Equal,
            "" | "=" | "==" | "~" | "~>" => {
                self.given == 0
                    || (order != Ordering::Less
                        && major == want_major
                        && (minor == want_minor || self.given < 2))
            }
            "!=" if partial => match self.given {
                0 => false,
                1 => major != want_major,
                _ => major != want_major || minor != want_minor,
            },
            "!=" => order != Ordering::Equal,
            ">" => match self.given {
                0 => false,
                1 => major > want_major,
                2 => (major, minor) > (want_major, want_minor),
                _ => order == Ordering::Greater,
            },
            "<" => order == Ordering::Less,
            ">=" | "=>" => order != Ordering::Less,
            "<=" | "=<" => match self.given {
                0 => true,
                1 => major <= want_major,
                2 => (major, minor) <= (want_major, want_minor),
                _ => order != Ordering::Greater,
            },
            // `^` keeps the first number that is not zero.
            _ => {
                if order == Ordering::Less {
                    return false;
                }
                if want_major > 0 || self.given < 2 {
                    return major == want_major;
                }
                if major > 0 {
                    return false;
                }
                if want_minor > 0 || self.given < 3 {
                    return minor == want_minor;
                }
                minor == 0 && patch == want_patch
            }
        }
    }
}

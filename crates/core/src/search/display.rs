//! A tree as text that is read as the same tree.

use std::fmt;

use chrono::SecondsFormat;

use super::Search;
use super::expr::{Check, Comparison, Expr, LetterCase, Literal, Test};
use super::field::{Field, is_plain_member, is_plain_type};

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expr().fmt(f)
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::And(terms) => join(f, terms, " AND "),
            Expr::Or(terms) => join(f, terms, " OR "),
            Expr::Not(inner) => match inner.as_ref() {
                // Comparisons have no NOT of their own.
                Expr::Test(test) if !matches!(test.check, Check::Compare(..)) => {
                    write(f, test, Sense::Negative)
                }
                inner => {
                    f.write_str("NOT ")?;
                    term(f, inner)
                }
            },
            Expr::Test(test) => write(f, test, Sense::Positive),
        }
    }
}

fn join(f: &mut fmt::Formatter<'_>, terms: &[Expr], word: &str) -> fmt::Result {
    for (index, inner) in terms.iter().enumerate() {
        if index > 0 {
            f.write_str(word)?;
        }
        term(f, inner)?;
    }
    Ok(())
}

/// In parentheses, if it would fall apart without them.
fn term(f: &mut fmt::Formatter<'_>, expr: &Expr) -> fmt::Result {
    match expr {
        Expr::And(_) | Expr::Or(_) => write!(f, "({expr})"),
        Expr::Not(_) | Expr::Test(_) => write!(f, "{expr}"),
    }
}

#[derive(Clone, Copy)]
enum Sense {
    Positive,
    Negative,
}

fn write(f: &mut fmt::Formatter<'_>, test: &Test, sense: Sense) -> fmt::Result {
    let not = match sense {
        Sense::Positive => "",
        Sense::Negative => "NOT ",
    };
    let field = &test.field;
    match &test.check {
        Check::Compare(comparison, literal) => {
            write!(f, "{not}{field} {comparison} {literal}")
        }
        Check::In(literals) => {
            let literals: Vec<String> = literals.iter().map(Literal::to_string).collect();
            write!(f, "{field} {not}IN [{}]", literals.join(", "))
        }
        Check::Between(low, high) => write!(f, "{field} {not}BETWEEN {low} AND {high}"),
        Check::Like { pattern, case } => {
            let like = match case {
                LetterCase::Exact => "LIKE",
                LetterCase::Ignored => "ILIKE",
            };
            write!(f, "{field} {not}{like} {}", Quoted(pattern))
        }
        Check::IsNull => write!(f, "{field} IS {not}NULL"),
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Text(text) => Quoted(text).fmt(f),
            Literal::Number(number) => number.fmt(f),
            Literal::Bool(value) => value.fmt(f),
            Literal::Integer(number) => number.fmt(f),
            Literal::Time(time) => {
                write!(f, "'{}'", time.to_rfc3339_opts(SecondsFormat::AutoSi, true))
            }
            Literal::Status(status) => write!(f, "'{status}'"),
        }
    }
}

/// The name as a search spells it.
impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Field::Column(column) => f.write_str(column.as_str()),
            Field::Phase => f.write_str("status.phase"),
            Field::Label(key) => named(f, "labels", key, is_plain_key(key)),
            Field::Tenancy(key) => named(f, "tenancy", key, is_plain_key(key)),
            Field::Spec(path) => {
                f.write_str("spec")?;
                path.iter()
                    .try_for_each(|member| named(f, "", member, is_plain_member(member)))
            }
            Field::Condition(kind) => named(f, "status.conditions", kind, is_plain_type(kind)),
            Field::ConditionPart(kind, part) => {
                named(f, "status.conditions", kind, is_plain_type(kind))?;
                write!(f, ".{}", part.as_str())
            }
        }
    }
}

fn named(f: &mut fmt::Formatter<'_>, root: &str, name: &str, plain: bool) -> fmt::Result {
    if plain {
        write!(f, "{root}.{name}")
    } else {
        write!(f, "{root}[{}]", Quoted(name))
    }
}

fn is_plain_key(key: &str) -> bool {
    key.ends_with(|c: char| c.is_ascii_alphanumeric())
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-'))
}

/// A text between single quotes.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("'")?;
        for c in self.0.chars() {
            if matches!(c, '\'' | '\\') {
                f.write_str("\\")?;
            }
            write!(f, "{c}")?;
        }
        f.write_str("'")
    }
}

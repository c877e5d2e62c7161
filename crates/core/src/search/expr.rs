//! A search as a tree.

use crate::condition::ConditionStatus;
use crate::time::Time;

use super::decimal::Decimal;
use super::field::Field;

/// True, false or, where a resource lacks what is asked about, neither.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// Two or more.
    And(Vec<Expr>),
    /// Two or more.
    Or(Vec<Expr>),
    /// Also `NOT IN`, `NOT LIKE`, `NOT BETWEEN` and `IS NOT NULL`.
    Not(Box<Expr>),
    Test(Test),
}

/// One question about one member of a resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    pub field: Field,
    pub check: Check,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Check {
    Compare(Comparison, Literal),
    /// Equal to one of these, all of one type; possibly to none.
    In(Vec<Literal>),
    /// Both ends belong to it.
    Between(Literal, Literal),
    /// `%` is any text, `_` any character, `\` takes the next character as it is.
    Like {
        pattern: String,
        case: LetterCase,
    },
    IsNull,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LetterCase {
    Exact,
    /// `A` to `Z` are as `a` to `z`; other letters are only themselves.
    Ignored,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    pub const ALL: [Comparison; 6] = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }

    /// True where this one is false.
    #[must_use]
    pub fn negated(self) -> Comparison {
        match self {
            Comparison::Equal => Comparison::NotEqual,
            Comparison::NotEqual => Comparison::Equal,
            Comparison::Less => Comparison::GreaterOrEqual,
            Comparison::LessOrEqual => Comparison::Greater,
            Comparison::Greater => Comparison::LessOrEqual,
            Comparison::GreaterOrEqual => Comparison::Less,
        }
    }

    /// The same with its sides exchanged.
    pub(super) fn flipped(self) -> Comparison {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            same @ (Comparison::Equal | Comparison::NotEqual) => same,
        }
    }

    pub(super) fn holds(self, ordering: std::cmp::Ordering) -> bool {
        match self {
            Comparison::Equal => ordering.is_eq(),
            Comparison::NotEqual => ordering.is_ne(),
            Comparison::Less => ordering.is_lt(),
            Comparison::LessOrEqual => ordering.is_le(),
            Comparison::Greater => ordering.is_gt(),
            Comparison::GreaterOrEqual => ordering.is_ge(),
        }
    }
}

/// A value to compare with.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// Compared byte by byte.
    Text(String),
    /// Only with members of `spec`.
    Number(Decimal),
    /// Only with members of `spec`.
    Bool(bool),
    Integer(i32),
    /// To the microsecond, as the store keeps it.
    Time(Time),
    Status(ConditionStatus),
}

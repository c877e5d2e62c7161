//! The types the checker knows. Element types are not tracked: data is JSON, and what it holds shows at run time.

use std::fmt;

/// What is known about a value before evaluation. `Dyn` is anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Type {
    /// Not known, checked at run time.
    #[default]
    Dyn,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// 64-bit signed integer.
    Int,
    /// 64-bit unsigned integer.
    Uint,
    /// 64-bit float.
    Double,
    /// Unicode text.
    String,
    /// Raw bytes.
    Bytes,
    /// List of anything.
    List,
    /// Map with bool, int, uint or string keys.
    Map,
    /// Point in time.
    Timestamp,
    /// Span of time.
    Duration,
    /// A type as a value, `type(1)`.
    Type,
    /// An optional value, `optional.of(1)` or `a.?b`.
    Optional,
}

impl Type {
    /// Name as `type(x)` shows it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dyn => "dyn",
            Self::Null => "null_type",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::List => "list",
            Self::Map => "map",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::Duration => "google.protobuf.Duration",
            Self::Type => "type",
            Self::Optional => "optional_type",
        }
    }

    /// The type an expression may name, such as `int` or `google.protobuf.Duration`.
    pub fn named(name: &str) -> Option<Self> {
        const NAMED: [Type; 13] = [
            Type::Null,
            Type::Bool,
            Type::Int,
            Type::Uint,
            Type::Double,
            Type::String,
            Type::Bytes,
            Type::List,
            Type::Map,
            Type::Timestamp,
            Type::Duration,
            Type::Type,
            Type::Optional,
        ];
        NAMED.into_iter().find(|t| t.name() == name)
    }

    pub(crate) fn is_numeric(self) -> bool {
        matches!(self, Self::Int | Self::Uint | Self::Double)
    }

    /// Whether two values of these types can be equal, ordered or confused at all.
    pub(crate) fn comparable(self, other: Self) -> bool {
        self == other
            || self == Self::Dyn
            || other == Self::Dyn
            || self == Self::Null
            || other == Self::Null
            || (self.is_numeric() && other.is_numeric())
    }

    /// Type of a value that is one or the other.
    pub(crate) fn either(self, other: Self) -> Self {
        if self == other { self } else { Self::Dyn }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            // What an author writes, not the protobuf name.
            Self::Timestamp => "timestamp",
            Self::Duration => "duration",
            Self::Null => "null",
            Self::Optional => "optional",
            other => other.name(),
        })
    }
}

/// Set of types a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accepts(u16);

impl Accepts {
    pub(crate) const ANY: Self = Self(u16::MAX);

    pub(crate) const fn only(t: Type) -> Self {
        Self(1 << t as u16)
    }

    pub(crate) const fn or(self, t: Type) -> Self {
        Self(self.0 | 1 << t as u16)
    }

    pub(crate) fn takes(self, t: Type) -> bool {
        t == Type::Dyn || self.0 & (1 << t as u16) != 0
    }
}

//! The members of a resource that a search can ask about.

use hyperfleet_source::suggest;

use super::error::SearchError;
use super::lexer::Segment;
use crate::column::Column;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field {
    Column(Column),
    /// `status.phase`
    Phase,
    /// `labels.<key>`
    Label(String),
    /// `tenancy.<key>`
    Tenancy(String),
    /// `spec.<a>.<b>`; a number is an index where an array is met.
    Spec(Vec<String>),
    /// `status.conditions.<Type>`
    Condition(String),
    /// `status.conditions.<Type>.<part>`
    ConditionPart(String, ConditionPart),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConditionPart {
    LastUpdatedTime,
    LastTransitionTime,
    ObservedGeneration,
}

impl ConditionPart {
    pub const ALL: [ConditionPart; 3] = [
        ConditionPart::LastUpdatedTime,
        ConditionPart::LastTransitionTime,
        ConditionPart::ObservedGeneration,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            ConditionPart::LastUpdatedTime => "last_updated_time",
            ConditionPart::LastTransitionTime => "last_transition_time",
            ConditionPart::ObservedGeneration => "observed_generation",
        }
    }
}

/// What a field can be compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    Integer,
    Time,
    Status,
    /// Texts, numbers and booleans alike.
    Json,
}

impl Field {
    pub(super) fn of_type(&self) -> Type {
        match self {
            Field::Column(column) => match column {
                Column::Generation => Type::Integer,
                Column::CreatedTime | Column::UpdatedTime | Column::DeletedTime => Type::Time,
                _ => Type::Text,
            },
            Field::Phase | Field::Label(_) | Field::Tenancy(_) => Type::Text,
            Field::Spec(_) => Type::Json,
            Field::Condition(_) => Type::Status,
            Field::ConditionPart(_, ConditionPart::ObservedGeneration) => Type::Integer,
            Field::ConditionPart(..) => Type::Time,
        }
    }

    /// The field with this path. `position` is where it begins in the search.
    pub(super) fn resolve(segments: &[Segment], position: usize) -> Result<Field, SearchError> {
        let unknown = || unknown(segments, position);
        let (root, rest) = segments.split_first().ok_or_else(unknown)?;
        match (root.text.as_str(), rest) {
            (name, []) => Column::parse(name).map(Field::Column).ok_or_else(unknown),
            ("labels", rest) => key(rest).map(Field::Label).ok_or_else(unknown),
            ("tenancy", rest) => key(rest).map(Field::Tenancy).ok_or_else(unknown),
            ("spec", rest) => spec(rest, segments, position),
            ("status", [phase]) if phase.text == "phase" => Ok(Field::Phase),
            ("status", [conditions, kind, part @ ..]) if conditions.text == "conditions" => {
                let kind = condition(kind, position)?;
                match part {
                    [] => Ok(Field::Condition(kind)),
                    [part] => condition_part(kind, part, position),
                    _ => Err(unknown()),
                }
            }
            _ => Err(unknown()),
        }
    }
}

/// All that follows `labels.`, dots included, or one quoted name.
fn key(segments: &[Segment]) -> Option<String> {
    let key = match segments {
        [one] if one.quoted => one.text.clone(),
        plain if plain.iter().all(|segment| !segment.quoted) => join(plain),
        _ => return None,
    };
    (!key.is_empty()).then_some(key)
}

fn spec(path: &[Segment], whole: &[Segment], position: usize) -> Result<Field, SearchError> {
    for segment in path {
        if !segment.quoted && !is_plain_member(&segment.text) {
            let message = format!(
                "invalid field in search or order query: '{}': a member of spec is named with a-z, 0-9 and _",
                join(whole)
            );
            return Err(SearchError::new(position, message)
                .help(format!("others in brackets: ['{}']", segment.text)));
        }
    }
    Ok(Field::Spec(
        path.iter().map(|segment| segment.text.clone()).collect(),
    ))
}

/// Whether a member of `spec` can be named without brackets.
pub(super) fn is_plain_member(member: &str) -> bool {
    !member.is_empty()
        && member
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// Whether a condition type can be named without brackets.
pub(super) fn is_plain_type(kind: &str) -> bool {
    kind.starts_with(|c: char| c.is_ascii_uppercase())
        && kind.bytes().all(|b| b.is_ascii_alphanumeric())
}

fn condition(kind: &Segment, position: usize) -> Result<String, SearchError> {
    let text = &kind.text;
    if is_plain_type(text) || (kind.quoted && !text.is_empty()) {
        return Ok(text.clone());
    }
    let message = format!(
        "invalid field in search or order query: '{text}': \
         a condition type begins with A-Z and holds letters and digits"
    );
    Err(SearchError::new(position, message))
}

fn condition_part(kind: String, part: &Segment, position: usize) -> Result<Field, SearchError> {
    let found = ConditionPart::ALL
        .into_iter()
        .find(|known| known.as_str() == part.text);
    found
        .map(|part| Field::ConditionPart(kind, part))
        .ok_or_else(|| {
            let names = ConditionPart::ALL.map(ConditionPart::as_str);
            let message = format!(
                "invalid field in search or order query: '{}' of a condition cannot be searched",
                part.text
            );
            let error = SearchError::new(position, message);
            match suggest::help(&part.text, names) {
                Some(help) => error.help(help),
                None => error,
            }
        })
}

fn unknown(segments: &[Segment], position: usize) -> SearchError {
    let name = join(segments);
    let error = SearchError::new(
        position,
        format!("invalid field in search or order query: '{name}'"),
    );
    match suggestion(segments, &name) {
        Some(near) => error.help(format!("did you mean '{near}'?")),
        None => error,
    }
}

/// The nearest field; of a path, with its beginning put right.
fn suggestion(segments: &[Segment], name: &str) -> Option<String> {
    const PATHS: [&str; 3] = ["labels", "tenancy", "spec"];
    let rest = match segments {
        [_, rest @ ..] if !rest.is_empty() => join(rest),
        _ => {
            if PATHS.contains(&name) {
                return Some(format!("{name}.<key>"));
            }
            if name == "status" {
                return Some("status.phase".to_owned());
            }
            let columns = Column::ALL.map(Column::as_str);
            let known = columns.into_iter().chain(["status.phase"]);
            return suggest::nearest(name, known).map(str::to_owned);
        }
    };
    let root = segments[0].text.as_str();
    if let [status, member, more @ ..] = segments
        && status.text == "status"
    {
        let near = match member.text.as_str() {
            "conditions" => Some("conditions"),
            other => suggest::nearest(other, ["phase", "conditions"]),
        };
        return near.map(|near| match more {
            [] if near == "conditions" => "status.conditions.<Type>".to_owned(),
            [] => format!("status.{near}"),
            more => format!("status.{near}.{}", join(more)),
        });
    }
    suggest::nearest(root, PATHS.into_iter().chain(["status"])).map(|near| format!("{near}.{rest}"))
}

fn join(segments: &[Segment]) -> String {
    let texts: Vec<&str> = segments
        .iter()
        .map(|segment| segment.text.as_str())
        .collect();
    texts.join(".")
}

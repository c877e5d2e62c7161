//! `order=name,created_time desc`

use hyperfleet_source::suggest;

use super::keyset::{KeysetColumn, KeysetOrder};
use crate::column::Column;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    Ascending,
    Descending,
}

impl Direction {
    pub fn as_str(self) -> &'static str {
        match self {
            Direction::Ascending => "asc",
            Direction::Descending => "desc",
        }
    }
}

/// What a list is ordered by, first things first. Always ends in the id, so that no two resources are equal and pages
/// are stable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Order(Vec<(Column, Direction)>);

/// Why a text is no order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    #[error("invalid order format '{0}': expected 'field' or 'field asc|desc'")]
    Format(String),
    #[error("invalid field in search or order query: '{field}'{}", did_you_mean(.near.as_deref()))]
    UnknownField { field: String, near: Option<String> },
}

fn did_you_mean(near: Option<&str>) -> String {
    near.map_or(String::new(), |near| format!(" (did you mean '{near}'?)"))
}

impl Order {
    /// Reads values of the parameter, each a list separated by commas. Blank ones say nothing; if all do, it is the
    /// newest first.
    pub fn parse<'a>(values: impl IntoIterator<Item = &'a str>) -> Result<Order, OrderError> {
        let mut terms: Vec<(Column, Direction)> = Vec::new();
        let items = values.into_iter().flat_map(|value| value.split(','));
        for item in items.map(str::trim).filter(|item| !item.is_empty()) {
            let (column, direction) = term(item)?;
            // Whatever is equal by the first mention is equal by the second.
            if !terms.iter().any(|(other, _)| *other == column) {
                terms.push((column, direction));
            }
        }
        if terms.is_empty() {
            return Ok(Order::default());
        }
        Ok(Order::ending_in_id(terms))
    }

    fn ending_in_id(mut terms: Vec<(Column, Direction)>) -> Order {
        match terms.iter().position(|(column, _)| *column == Column::Id) {
            // Nothing is left to be ordered after the id.
            Some(at) => terms.truncate(at + 1),
            None => {
                // In the direction of what it breaks the ties of, as the indexes have it.
                let direction = terms.last().map_or(Direction::Ascending, |term| term.1);
                terms.push((Column::Id, direction));
            }
        }
        Order(terms)
    }

    pub fn terms(&self) -> &[(Column, Direction)] {
        &self.0
    }

    /// The same order for a walk, if it is by one column that never changes.
    pub fn keyset(&self) -> Option<KeysetOrder> {
        let (column, direction) = *self.0.first()?;
        let column = match column {
            Column::CreatedTime => KeysetColumn::CreatedTime,
            Column::Name => KeysetColumn::Name,
            Column::Id => KeysetColumn::Id,
            _ => return None,
        };
        let alone =
            self.0.len() == 1 || (self.0.len() == 2 && self.0[1] == (Column::Id, direction));
        alone.then_some(KeysetOrder { column, direction })
    }
}

/// The newest first.
impl Default for Order {
    fn default() -> Order {
        Order::ending_in_id(vec![(Column::CreatedTime, Direction::Descending)])
    }
}

fn term(item: &str) -> Result<(Column, Direction), OrderError> {
    let format = || OrderError::Format(item.to_owned());
    let mut words = item.split_whitespace();
    let field = words.next().ok_or_else(format)?;
    let direction = match words.next() {
        None | Some("asc") => Direction::Ascending,
        Some("desc") => Direction::Descending,
        Some(_) => return Err(format()),
    };
    let mut letters = field.bytes();
    let is_name = letters
        .next()
        .is_some_and(|b| b.is_ascii_lowercase() || b == b'_')
        && letters.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if words.next().is_some() || !is_name {
        return Err(format());
    }
    match Column::parse(field) {
        Some(column) => Ok((column, direction)),
        None => Err(OrderError::UnknownField {
            field: field.to_owned(),
            near: suggest::nearest(field, Column::ALL.map(Column::as_str)).map(str::to_owned),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(text: &str) -> String {
        match Order::parse([text]) {
            Ok(order) => {
                let terms: Vec<String> = order
                    .terms()
                    .iter()
                    .map(|(column, direction)| {
                        format!("{} {}", column.as_str(), direction.as_str())
                    })
                    .collect();
                terms.join(",")
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_id_breaks_every_tie() {
        assert_eq!(order(""), "created_time desc,id desc");
        assert_eq!(order(" , "), "created_time desc,id desc");
        assert_eq!(order("name"), "name asc,id asc");
        assert_eq!(order("kind,name  desc"), "kind asc,name desc,id desc");
        assert_eq!(order("id desc,name"), "id desc");
        assert_eq!(order("name,name desc"), "name asc,id asc");
    }

    #[test]
    fn what_is_no_order_is_told() {
        for bad in ["name DESC", "Name", "name asc desc", "spec.x", "name;", "1"] {
            assert_eq!(
                order(bad),
                format!("invalid order format '{bad}': expected 'field' or 'field asc|desc'")
            );
        }
        assert_eq!(
            order("create_time"),
            "invalid field in search or order query: 'create_time' (did you mean 'created_time'?)"
        );
        assert_eq!(
            order("spec"),
            "invalid field in search or order query: 'spec'"
        );
    }

    #[test]
    fn only_what_never_changes_can_be_walked_by() {
        let keyset = |text| Order::parse([text]).unwrap().keyset();
        for good in ["", "created_time", "name desc", "id", "name,id", "id,name"] {
            assert!(keyset(good).is_some(), "{good}");
        }
        for bad in [
            "updated_time",
            "generation",
            "name,created_time",
            "name,id desc",
        ] {
            assert_eq!(keyset(bad), None, "{bad}");
        }
    }
}

//! Parameters that are numbers; all mistakes are told at once.

use hyperfleet_core::problem::FieldError;

use super::violation;
use crate::params::Pairs;

pub(super) struct Numbers<'a> {
    query: &'a Pairs,
    pub(super) errors: Vec<FieldError>,
}

impl Numbers<'_> {
    pub(super) fn of(query: &Pairs) -> Numbers<'_> {
        Numbers {
            query,
            errors: Vec::new(),
        }
    }

    /// A whole number from 1 to `most`; nothing when it is absent, blank or wrong.
    pub(super) fn read(&mut self, name: &str, most: u32) -> Option<u32> {
        let text = self.query.get(name)?;
        let (constraint, message) = match text.parse::<i64>() {
            Err(_) => ("format", "must be a valid integer".to_owned()),
            Ok(value) if value < 1 => ("min", format!("{name} must be at least 1")),
            Ok(value) => match u32::try_from(value) {
                Ok(value) if value <= most => return Some(value),
                _ => ("max", format!("{name} must be at most {most}")),
            },
        };
        self.errors
            .push(violation(name, Some(text), constraint, &message));
        None
    }
}

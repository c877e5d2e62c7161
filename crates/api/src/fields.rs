//! `fields`: which members an answer holds.

use hyperfleet_core::fields::Fields;
use hyperfleet_core::problem::{Code, FieldError};

use crate::failure::Failure;
use crate::params::Pairs;

/// The members asked for; `None` is all of them.
pub(crate) fn wanted(query: &Pairs) -> Result<Option<Fields>, Failure> {
    Fields::parse(query.all("fields")).map_err(|unknown| {
        let errors = unknown.0.iter().map(|name| FieldError {
            field: "fields".to_owned(),
            message: format!("a resource has no member '{name}'"),
            value: Some(name.as_str().into()),
            constraint: Some("enum".to_owned()),
        });
        Failure::new(Code::Validation, unknown.to_string()).with_errors(errors.collect())
    })
}

//! Query parameters of lists.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use hyperfleet_core::list::PageRequest;
use hyperfleet_core::problem::{Code, FieldError};

use crate::failure::Failure;

/// `page` and `size`. Unknown parameters are ignored, as the contract has it.
#[derive(Debug)]
pub(crate) struct ListQuery {
    pub(crate) page: PageRequest,
}

impl<S: Send + Sync> FromRequestParts<S> for ListQuery {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let axum::extract::Query(pairs) =
            axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&parts.uri).map_err(
                |error| Failure::new(Code::BadRequest, format!("Invalid query string: {error}")),
            )?;
        let default = PageRequest::default();
        let mut errors = Vec::new();
        let mut number = |name: &str, default: u32, most: u32| {
            let text = pairs
                .iter()
                .find(|(key, _)| key == name)
                .map_or("", |(_, value)| value.trim());
            if text.is_empty() {
                return default;
            }
            match text.parse::<i64>() {
                Err(_) => errors.push(violation(
                    name,
                    text,
                    "format",
                    "must be a valid integer".to_owned(),
                )),
                Ok(value) if value < 1 => {
                    errors.push(violation(
                        name,
                        text,
                        "min",
                        format!("{name} must be at least 1"),
                    ));
                }
                Ok(value) if value > i64::from(most) => {
                    errors.push(violation(
                        name,
                        text,
                        "max",
                        format!("{name} must be at most {most}"),
                    ));
                }
                Ok(value) => return u32::try_from(value).unwrap_or(most),
            }
            default
        };
        let page = number("page", default.page, PageRequest::MAX_PAGE);
        let size = number("size", default.size, PageRequest::MAX_SIZE);
        if errors.is_empty() {
            Ok(ListQuery {
                page: PageRequest { page, size },
            })
        } else {
            Err(Failure::new(Code::Validation, "Invalid query parameters").with_errors(errors))
        }
    }
}

fn violation(field: &str, value: &str, constraint: &str, message: String) -> FieldError {
    FieldError {
        field: field.to_owned(),
        message,
        value: Some(value.into()),
        constraint: Some(constraint.to_owned()),
    }
}

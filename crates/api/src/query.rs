//! Query parameters of lists.

mod numbers;
mod statuses;

use hyperfleet_core::fields::Fields;
use hyperfleet_core::kind::Kind;
use hyperfleet_core::list::{KeysetOrder, Order, PageRequest};
use hyperfleet_core::problem::{Code, FieldError};
use hyperfleet_core::search::Search;

use crate::failure::Failure;
use crate::fields;
use crate::params::Pairs;
use crate::scope::Scope;
use crate::state::ApiState;
use numbers::Numbers;
pub(crate) use statuses::StatusesQuery;

/// What a list is asked for. Parameters that are not named here are ignored, as the contract has it.
#[derive(Debug)]
pub(crate) struct ListQuery {
    /// Only where the route is about all kinds.
    pub(crate) kind: Option<String>,
    pub(crate) search: Option<Search>,
    /// A type of reference, and the id of its target.
    pub(crate) reference: Option<(String, String)>,
    pub(crate) fields: Option<Fields>,
    pub(crate) part: Part,
}

/// Which part of the list is wanted.
#[derive(Debug)]
pub(crate) enum Part {
    Page {
        order: Order,
        page: PageRequest,
    },
    Stretch {
        order: KeysetOrder,
        limit: u32,
        /// The token the stretch before ended with.
        from: Option<String>,
    },
}

/// The most resources in one stretch, and how many there are if only `continue` is given.
const MAX_LIMIT: u32 = 1000;
const DEFAULT_LIMIT: u32 = 100;

impl ListQuery {
    pub(crate) fn read(
        query: &Pairs,
        scope: &Scope,
        state: &ApiState,
    ) -> Result<ListQuery, Failure> {
        let mut numbers = Numbers::of(query);
        let default = PageRequest::default();
        let page = numbers.read("page", PageRequest::MAX_PAGE);
        let size = numbers.read("size", PageRequest::MAX_SIZE);
        let limit = numbers.read("limit", MAX_LIMIT);
        let mut errors = numbers.errors;
        let from = query.get("continue").map(str::to_owned);
        let counted = query.get("page").or(query.get("size")).is_some();
        let walked = query.get("limit").or(query.get("continue")).is_some();
        if counted && walked {
            errors.push(violation(
                "limit",
                None,
                "format",
                "limit and continue cannot be combined with page and size",
            ));
        }
        let reference = reference(query, &mut errors);
        if !errors.is_empty() {
            return Err(invalid(errors));
        }
        let kind = kind(query, scope, state)?;
        if let Some((ref_type, _)) = &reference {
            declared(ref_type, kind.or(scope.kind.as_ref()), state)?;
        }
        let search = query.get("search").map(search).transpose()?;
        let order = order(query)?;
        let part = if walked {
            Part::Stretch {
                order: order.keyset().ok_or_else(not_for_walks)?,
                limit: limit.unwrap_or(DEFAULT_LIMIT),
                from,
            }
        } else {
            Part::Page {
                order,
                page: PageRequest {
                    page: page.unwrap_or(default.page),
                    size: size.unwrap_or(default.size),
                },
            }
        };
        Ok(ListQuery {
            kind: kind.map(|kind| kind.kind.clone()),
            search,
            reference,
            fields: fields::wanted(query)?,
            part,
        })
    }
}

/// Reads a search, or tells what is wrong with it and where.
pub(crate) fn search(text: &str) -> Result<Search, Failure> {
    Search::parse(text).map_err(|error| {
        let rest = text.get(error.position..).filter(|rest| !rest.is_empty());
        let place = FieldError {
            field: "search".to_owned(),
            message: format!("at position {}", error.position),
            value: rest.map(Into::into),
            constraint: None,
        };
        Failure::new(Code::BadRequest, error.to_string()).with_errors(vec![place])
    })
}

fn order(query: &Pairs) -> Result<Order, Failure> {
    Order::parse(query.all("order"))
        .map_err(|error| Failure::new(Code::BadRequest, error.to_string()))
}

fn not_for_walks() -> Failure {
    Failure::new(
        Code::BadRequest,
        "a list with limit is ordered by one of created_time, name and id, which never change; \
         use page and size for another order",
    )
}

fn reference(query: &Pairs, errors: &mut Vec<FieldError>) -> Option<(String, String)> {
    match (query.get("ref_type"), query.get("ref_target_id")) {
        (Some(ref_type), Some(target)) => Some((ref_type.to_owned(), target.to_owned())),
        (None, None) => None,
        (ref_type, _) => {
            let missing = match ref_type {
                None => "ref_type",
                Some(_) => "ref_target_id",
            };
            let message = "ref_type and ref_target_id must be provided together";
            errors.push(violation(missing, None, "required", message));
            None
        }
    }
}

/// The kind of `/resources?kind=…`.
fn kind<'a>(
    query: &Pairs,
    scope: &Scope,
    state: &'a ApiState,
) -> Result<Option<&'a Kind>, Failure> {
    let Some(name) = query.get("kind").filter(|_| scope.kind.is_none()) else {
        return Ok(None);
    };
    let kind = state.kinds.kind(name).ok_or_else(|| {
        Failure::invalid("kind", Some("enum"), format!("Unknown entity kind: {name}"))
    })?;
    Ok(Some(kind))
}

/// Refuses a type of reference that none of the listed kinds has: a misspelt one would find nothing for ever.
fn declared(ref_type: &str, kind: Option<&Kind>, state: &ApiState) -> Result<(), Failure> {
    let has = |kind: &Kind| kind.references.iter().any(|rule| rule.ref_type == ref_type);
    let (found, message) = match kind {
        Some(kind) => (
            has(kind),
            format!("{} declares no reference type '{ref_type}'", kind.kind),
        ),
        None => (
            state.kinds.kinds().iter().any(has),
            format!("no kind declares a reference type '{ref_type}'"),
        ),
    };
    if found {
        return Ok(());
    }
    Err(invalid(vec![violation(
        "ref_type",
        Some(ref_type),
        "enum",
        &message,
    )]))
}

fn invalid(errors: Vec<FieldError>) -> Failure {
    Failure::new(Code::Validation, "Invalid query parameters").with_errors(errors)
}

fn violation(field: &str, value: Option<&str>, constraint: &str, message: &str) -> FieldError {
    FieldError {
        field: field.to_owned(),
        message: message.to_owned(),
        value: value.map(Into::into),
        constraint: Some(constraint.to_owned()),
    }
}

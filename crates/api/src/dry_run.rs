//! `dry_run=true`: everything is checked and answered as if it were done, and nothing is.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use hyperfleet_core::effect::Effect;

use crate::failure::Failure;
use crate::params::Pairs;

/// The name of the parameter.
pub(crate) const DRY_RUN: &str = "dry_run";

/// What the caller wants to become of a change.
#[derive(Debug)]
pub(crate) struct DryRun(pub(crate) Effect);

impl<S: Send + Sync> FromRequestParts<S> for DryRun {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        if parts.uri.query().is_none() {
            return Ok(DryRun(Effect::Lasting));
        }
        let query = Pairs::from_request_parts(parts, state).await?;
        // One that is there and empty was meant for something: guessing wrong would do what was to be tried.
        match query.all(DRY_RUN).next() {
            Some("true" | "1") => Ok(DryRun(Effect::Rehearsed)),
            None | Some("false" | "0") => Ok(DryRun(Effect::Lasting)),
            Some(_) => Err(Failure::invalid(
                DRY_RUN,
                Some("enum"),
                "dry_run must be true or false",
            )),
        }
    }
}

/// Taken by writes that cannot be tried: they refuse it, because what was to be tried must not be done.
#[derive(Debug)]
pub(crate) struct NotTried;

impl<S: Send + Sync> FromRequestParts<S> for NotTried {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        match DryRun::from_request_parts(parts, state).await? {
            DryRun(Effect::Lasting) => Ok(NotTried),
            DryRun(Effect::Rehearsed) => Err(Failure::invalid(
                DRY_RUN,
                None,
                "this request cannot be tried; without dry_run it is done",
            )),
        }
    }
}

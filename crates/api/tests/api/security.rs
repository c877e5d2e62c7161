//! Who gets in, and how far.

mod attacks;
mod audit;
mod authentication;
mod authorization;
mod deployed;
mod enumeration;
pub(crate) mod issuer;
mod limits;
mod listening;
mod out_of_sight;
mod tenants;

//! What every process shares.

pub mod config;
mod duration;
pub mod secret;

pub use duration::{GoDuration, ParseDurationError};
pub use secret::Secret;

//! The languages that adapter authors and platform teams write. Text and JSON come in, values and precise complaints
//! go out; nothing here does IO or asks the clock.
//!
//! ```text
//!  configuration ──compile──► program ──evaluate(data, now)──► JSON, bool
//!                    │                        │
//!                    ▼                        ▼
//!            all mistakes, with        one typed error that
//!            place and suggestion      names what was missing
//! ```

#![forbid(unsafe_code)]

pub mod cel;
pub mod path;
pub mod rules;
pub mod structured;
pub mod template;

//! Regular expressions: RE2's syntax without look-around and back references, with a price.

use regex::{Regex, RegexBuilder};

use super::error::{EvalError, invalid, limit};
use super::limits::Limits;
use super::meter::Meter;

/// Compiled patterns up to this size search about as fast as text is read.
const SMALL: usize = 32 * 1024;

#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    /// Matching is linear in the text, but in the worst case also in the size of the pattern.
    steps_per_byte: u64,
}

impl Pattern {
    pub(crate) fn new(pattern: &str, limits: &Limits) -> Result<Self, Box<EvalError>> {
        if pattern.len() > limits.regex_bytes {
            return Err(too_large(limits));
        }
        let build = |size: usize| {
            RegexBuilder::new(pattern)
                .size_limit(size)
                .dfa_size_limit(limits.regex_bytes)
                .nest_limit(100)
                .build()
        };
        let small = SMALL.min(limits.regex_bytes);
        let (built, steps_per_byte) = match build(small) {
            Err(regex::Error::CompiledTooBig(_)) if small < limits.regex_bytes => {
                (build(limits.regex_bytes), 16)
            }
            built => (built, 1),
        };
        match built {
            Ok(regex) => Ok(Self {
                regex,
                steps_per_byte,
            }),
            Err(regex::Error::CompiledTooBig(_)) => Err(too_large(limits)),
            Err(other) => {
                let text = other.to_string();
                let reason = text
                    .lines()
                    .last()
                    .unwrap_or_default()
                    .trim_start_matches("error: ");
                Err(invalid(format!("invalid regular expression: {reason}")))
            }
        }
    }

    pub(crate) fn is_large(&self) -> bool {
        self.steps_per_byte > 1
    }

    pub(crate) fn is_match(
        &self,
        meter: &mut Meter<'_>,
        text: &str,
    ) -> Result<bool, Box<EvalError>> {
        meter.charge((text.len() as u64).saturating_mul(self.steps_per_byte))?;
        Ok(self.regex.is_match(text))
    }
}

fn too_large(limits: &Limits) -> Box<EvalError> {
    limit(format!(
        "the regular expression is larger than {} bytes when compiled",
        limits.regex_bytes
    ))
}

//! The AggregationConfig file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperfleet_core::aggregation::config::AggregationConfig;
use hyperfleet_core::aggregation::{Rulebook, RulesError};
use hyperfleet_core::kind::Kind;
use hyperfleet_source::{Diagnostic, SourceFile};

use super::{RulesInForce, fingerprint};

/// Where the rules are written, and the kinds they are for.
#[derive(Debug, Clone)]
pub(crate) struct RulesFile {
    path: PathBuf,
    kinds: Arc<[Kind]>,
}

/// What a file says.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) book: Rulebook,
    pub(super) fingerprint: String,
    /// What can be used but was hardly meant.
    pub(super) warnings: Vec<Diagnostic>,
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RulesFileError {
    #[error("cannot read {path}: {source}")]
    Unreadable {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    Wrong(#[from] RulesError),
}

impl RulesFile {
    pub(crate) fn new(path: PathBuf, kinds: &[Kind]) -> RulesFile {
        RulesFile {
            path,
            kinds: kinds.into(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The rules to start with.
    pub(crate) fn load(self) -> Result<(RulesInForce, Vec<Diagnostic>), RulesFileError> {
        let read = self.read(&self.text()?)?;
        let rules = RulesInForce::new(read.book, read.fingerprint, Some(self));
        Ok((rules, read.warnings))
    }

    pub(super) fn text(&self) -> Result<String, RulesFileError> {
        std::fs::read_to_string(&self.path).map_err(|source| RulesFileError::Unreadable {
            path: self.path.display().to_string(),
            source,
        })
    }

    pub(super) fn read(&self, text: &str) -> Result<Read, RulesFileError> {
        let file = SourceFile::new(self.path.display().to_string(), text);
        let configs = AggregationConfig::read(&file).map_err(RulesError::Config)?;
        let (book, warnings) = Rulebook::new(&self.kinds, &configs)?;
        Ok(Read {
            book,
            fingerprint: fingerprint(&self.kinds, text),
            warnings,
        })
    }
}

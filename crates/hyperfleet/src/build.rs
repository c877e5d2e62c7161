//! What this binary is.

use hyperfleet_runtime::metrics::Build;

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(crate) const COMMIT: &str = env!("HYPERFLEET_COMMIT");

pub(crate) fn build() -> Build {
    Build {
        version: VERSION.to_owned(),
        commit: COMMIT.to_owned(),
    }
}

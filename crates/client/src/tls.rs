//! The one crypto provider of the process.

use std::sync::Once;

/// Makes ring the provider of every TLS connection of this process, unless one was chosen before.
///
/// [`Client::new`](crate::Client::new) does it. Whoever builds a `reqwest::Client` by hand calls this first:
/// without a provider reqwest panics.
pub fn install_ring() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if rustls::crypto::CryptoProvider::get_default().is_none()
            && rustls::crypto::ring::default_provider()
                .install_default()
                .is_err()
        {
            // Another thread was quicker; its provider is as good.
            tracing::debug!("a crypto provider was installed at the same time");
        }
    });
}

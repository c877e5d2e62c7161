//! The one crypto provider of the process.

/// rustls wants one provider per process and panics if it has to guess.
pub(crate) fn install() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Whoever was quicker at the same time installed one that is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

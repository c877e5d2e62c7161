//! The one crypto provider of the process.

/// Makes ring the provider of every TLS connection of this process, unless one was chosen before.
///
/// rustls wants one provider per process and panics if it has to guess, so whoever builds something that speaks TLS
/// calls this first.
pub fn install_ring() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Whoever was quicker at the same time installed one that is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

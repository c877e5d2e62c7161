//! What only this machine can reach.

use std::net::{IpAddr, SocketAddr};

/// Whether a host, as written in an address or in a URL, is this machine and nothing else.
pub(crate) fn is_loopback_host(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare
            .parse::<IpAddr>()
            .is_ok_and(|address| address.to_canonical().is_loopback())
}

/// The same for an address that is listened on: a name may lead anywhere, so what counts is where it led.
pub(crate) fn is_loopback(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_this_machine() {
        for host in [
            "localhost",
            "LOCALHOST",
            "127.0.0.1",
            "127.9.9.9",
            "[::1]",
            "::1",
        ] {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in [
            "",
            "0.0.0.0",
            "::",
            "10.0.0.1",
            "localhost.example.com",
            "127.0.0.1.nip.io",
        ] {
            assert!(!is_loopback_host(host), "{host}");
        }
        assert!(is_loopback("[::ffff:127.0.0.1]:8000".parse().unwrap()));
        assert!(!is_loopback("0.0.0.0:8000".parse().unwrap()));
    }
}

//! Where calls may go. A URL that was rendered from what somebody wrote into a resource must not make an adapter knock on
//! doors that only the adapter can reach.

use std::net::{IpAddr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::address::BaseUrl;

/// The origins that are asked beside the API's own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins(Vec<Url>);

/// A text that is no origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no origin; write scheme, host and port such as https://vault.example.com:8200, without a path"
)]
pub struct NotAnOrigin(String);

impl Origins {
    pub(crate) fn read(written: &[String]) -> Result<Origins, NotAnOrigin> {
        let one = |text: &String| {
            let url: Url = text.parse().ok()?;
            let bare = matches!(url.path(), "" | "/") && url.query().is_none();
            let plain = url.username().is_empty() && url.password().is_none();
            let http = matches!(url.scheme(), "http" | "https");
            (bare && plain && http && url.has_host()).then_some(url)
        };
        let mut origins = Vec::with_capacity(written.len());
        for text in written {
            origins.push(one(text).ok_or_else(|| NotAnOrigin(text.clone()))?);
        }
        Ok(Origins(origins))
    }

    /// Why a call may not go there; nothing when it may.
    pub(crate) fn refuse(&self, base: &BaseUrl, url: &Url) -> Option<String> {
        if base.is_origin_of(url) {
            return None;
        }
        if !self.0.iter().any(|listed| listed.origin() == url.origin()) {
            let origin = url.origin().ascii_serialization();
            return Some(format!(
                "calls to {origin} are not allowed; allowed_origins lists what may be asked beside the API"
            ));
        }
        // However an address was spelt, the URL has it in its usual form.
        let host = url.host_str().unwrap_or_default();
        let literal = host.trim_matches(['[', ']']).parse();
        literal
            .is_ok_and(is_link_local)
            .then(|| "link-local addresses are never asked".to_owned())
    }
}

/// Where machines keep what they tell only themselves, such as the credentials of a cloud's virtual machine.
fn is_link_local(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => {
            address.is_unicast_link_local()
                // The address under which AWS serves the same over IPv6.
                || address == std::net::Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)
        }
    }
}

/// The system's resolver, which never leads to a link-local address: whoever owns a name decides what it means.
#[derive(Debug)]
pub(crate) struct NotLinkLocal;

impl Resolve for NotLinkLocal {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let usable: Vec<SocketAddr> =
                found.filter(|found| !is_link_local(found.ip())).collect();
            if usable.is_empty() {
                let name = name.as_str();
                return Err(format!("{name} has no address that may be asked").into());
            }
            Ok(Box::new(usable.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(allowed: &[&str], url: &str) -> bool {
        let allowed: Vec<String> = allowed.iter().map(|text| (*text).to_owned()).collect();
        let base = BaseUrl::parse("http://api:8000", "v1").unwrap();
        let origins = Origins::read(&allowed).unwrap();
        origins.refuse(&base, &url.parse().unwrap()).is_some()
    }

    #[test]
    fn only_the_api_and_what_is_listed_is_asked() {
        assert!(!refused(&[], "http://api:8000/anything"));
        for url in [
            "https://api:8000/",
            "http://api:8001/",
            "http://api.evil.example.com:8000/",
            "http://169.254.169.254/latest/meta-data/",
            "http://localhost:8080/",
        ] {
            assert!(refused(&[], url), "{url}");
        }
        let listed = ["https://vault.example.com:8200"];
        assert!(!refused(
            &listed,
            "https://vault.example.com:8200/v1/secret"
        ));
        assert!(refused(&listed, "https://vault.example.com/v1/secret"));
    }

    #[test]
    fn link_local_addresses_are_refused_even_when_listed() {
        for host in [
            "169.254.169.254",
            "[fe80::1]",
            "[::ffff:169.254.169.254]",
            "[fd00:ec2::254]",
            "0xa9fea9fe",
            "2852039166",
        ] {
            let origin = format!("http://{host}");
            assert!(refused(&[&origin], &format!("{origin}/latest")), "{host}");
        }
        assert!(!refused(&["http://10.0.0.7"], "http://10.0.0.7/"));
    }

    #[test]
    fn what_is_no_origin_is_named() {
        for text in [
            "",
            "vault",
            "ftp://x",
            "https://x/path",
            "https://u:p@x",
            "*",
        ] {
            let written = [text.to_owned()];
            let error = Origins::read(&written).unwrap_err();
            assert_eq!(error, NotAnOrigin(text.to_owned()));
        }
    }
}

//! Who may speak for somebody else.

use std::net::IpAddr;

use ipnet::IpNet;

/// Addresses of proxies that tell the truth about who asks.
#[derive(Debug, Clone, Default)]
pub(crate) struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// Reads addresses and networks; gives back the first that is neither.
    pub(crate) fn read(written: &[String]) -> Result<TrustedProxies, &str> {
        let one = |text: &String| {
            let network = text.parse::<IpNet>().ok();
            network.or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
        };
        let mut networks = Vec::with_capacity(written.len());
        for text in written {
            networks.push(one(text).ok_or(text.as_str())?);
        }
        Ok(TrustedProxies(networks))
    }

    /// A peer whose address is not known is nobody's proxy.
    pub(crate) fn hold(&self, peer: Option<IpAddr>) -> bool {
        let Some(peer) = peer.map(|peer| peer.to_canonical()) else {
            return false;
        };
        self.0.iter().any(|network| network.contains(&peer))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_networks_are_trusted_and_nobody_else() {
        let written = ["10.1.0.0/16", "192.0.2.7", "2001:db8::/32"].map(str::to_owned);
        let proxies = TrustedProxies::read(&written).unwrap();
        let trusted = |text: &str| proxies.hold(Some(text.parse().unwrap()));
        assert!(trusted("10.1.255.3"));
        assert!(trusted("::ffff:10.1.255.3"));
        assert!(trusted("192.0.2.7"));
        assert!(trusted("2001:db8::1"));
        assert!(!trusted("10.2.0.1"));
        assert!(!trusted("192.0.2.8"));
        assert!(!proxies.hold(None));
        assert!(!TrustedProxies::default().hold(Some("127.0.0.1".parse().unwrap())));
    }

    #[test]
    fn what_is_no_address_is_named() {
        let written = ["10.0.0.1".to_owned(), "everybody".to_owned()];
        assert_eq!(TrustedProxies::read(&written).unwrap_err(), "everybody");
    }
}

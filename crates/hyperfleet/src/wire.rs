//! What people write on a command line, as HTTP wants it.

use anyhow::{Context, Result};
use hyperfleet_client::header::{HeaderMap, HeaderName, HeaderValue};

/// Headers written as `NAME: VALUE`.
pub(crate) fn headers<T: AsRef<str>>(written: &[T]) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for text in written {
        let text = text.as_ref();
        let read = text.split_once(':').and_then(|(name, value)| {
            let name: HeaderName = name.trim().parse().ok()?;
            let value: HeaderValue = value.trim().parse().ok()?;
            Some((name, value))
        });
        let (name, value) =
            read.with_context(|| format!("`{text}` is no header; write NAME: VALUE"))?;
        headers.append(name, value);
    }
    Ok(headers)
}

/// A query string or a form. What is not plain is escaped, so that an odd value cannot become another parameter.
pub(crate) fn encoded(pairs: &[(&str, &str)]) -> String {
    let escaped = |text: &str| -> String {
        text.bytes()
            .map(|byte| match byte {
                b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
                byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
                byte => format!("%{byte:02X}"),
            })
            .collect()
    };
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={}", escaped(value)))
        .collect();
    pairs.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_value_stays_one_value() {
        let pairs = [("scope", "openid a&b"), ("code", "ü=1")];
        assert_eq!(encoded(&pairs), "scope=openid%20a%26b&code=%C3%BC%3D1");
    }

    #[test]
    fn a_header_has_a_name_and_a_value() {
        let read = headers(&["X-HyperFleet-Org: acme", "X-Other:1"]).unwrap();
        assert_eq!(read["x-hyperfleet-org"], "acme");
        assert_eq!(read["x-other"], "1");
        assert!(headers(&["no header"]).is_err());
        assert!(headers(&["a b: c"]).is_err());
    }
}

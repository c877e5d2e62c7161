//! Labels, in Kubernetes syntax.

const MAX_NAME: usize = 63;
const MAX_PREFIX: usize = 253;
const MAX_KEY: usize = 255;

/// What is wrong with a label key, if anything.
pub fn key_error(key: &str) -> Option<String> {
    if key.is_empty() {
        return Some("label key must not be empty".to_owned());
    }
    if key.len() > MAX_KEY {
        return Some(format!("label key must be at most {MAX_KEY} characters"));
    }
    let (prefix, name) = match key.split_once('/') {
        None => (None, key),
        Some((prefix, name)) => (Some(prefix), name),
    };
    if let Some(prefix) = prefix
        && !is_dns_subdomain(prefix)
    {
        return Some(format!(
            "label key prefix must be a lowercase DNS subdomain of at most {MAX_PREFIX} characters"
        ));
    }
    if name.len() > MAX_NAME || !is_qualified(name) {
        return Some(format!(
            "label key name must be 1 to {MAX_NAME} letters, digits, '-', '_' or '.', with a letter or digit at both ends"
        ));
    }
    None
}

/// What is wrong with a label value, if anything.
pub fn value_error(value: &str) -> Option<String> {
    (!value.is_empty() && (value.len() > MAX_NAME || !is_qualified(value))).then(|| {
        format!(
            "label value must be empty or at most {MAX_NAME} letters, digits, '-', '_' or '.', with a letter or digit at both ends"
        )
    })
}

fn is_qualified(text: &str) -> bool {
    let bytes = text.as_bytes();
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    edge(bytes.first())
        && edge(bytes.last())
        && bytes
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

fn is_dns_subdomain(text: &str) -> bool {
    text.len() <= MAX_PREFIX
        && text.split('.').all(|label| {
            label.len() <= MAX_NAME
                && is_qualified(label)
                && label
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_follow_kubernetes() {
        for good in ["a", "A1", "123", "hyperfleet.io/cluster-id", "a.b_c-d"] {
            assert_eq!(key_error(good), None, "{good}");
        }
        for bad in [
            "",
            "/",
            "a/",
            "/a",
            "a/b/c",
            "-a",
            "a-",
            "Upper.io/a",
            "a b",
            "a\n",
            &"x".repeat(64),
        ] {
            assert!(key_error(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn values_may_be_empty_but_not_long() {
        assert_eq!(value_error(""), None);
        assert_eq!(value_error("us-east-1"), None);
        assert!(value_error(&"x".repeat(64)).is_some());
        assert!(value_error("ends-with-").is_some());
    }
}

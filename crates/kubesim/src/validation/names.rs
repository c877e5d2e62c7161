//! Name syntaxes and the sentences kube-apiserver refuses a bad one with.

use crate::catalog::Resource;

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

fn too_long(max: usize) -> String {
    format!("must be no more than {max} bytes")
}

fn is_label(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let edge = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let bytes = text.as_bytes();
    bytes.iter().all(|b| inner(*b)) && edge(bytes.first().copied()) && edge(bytes.last().copied())
}

fn is_qualified(text: &str) -> bool {
    let bytes = text.as_bytes();
    let edge = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric());
    bytes
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        && edge(bytes.first())
        && edge(bytes.last())
}

pub(crate) fn dns_label_problem(text: &str) -> Option<String> {
    if text.len() > 63 {
        return Some(too_long(63));
    }
    (!is_label(text)).then(|| LABEL.to_owned())
}

pub(crate) fn dns_subdomain_problem(text: &str) -> Option<String> {
    if text.len() > 253 {
        return Some(too_long(253));
    }
    (text.is_empty() || !text.split('.').all(is_label)).then(|| SUBDOMAIN.to_owned())
}

fn dns_1035_problem(text: &str) -> Option<String> {
    if text.len() > 63 {
        return Some(too_long(63));
    }
    let alphabetic = text.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
    (!alphabetic || !is_label(text)).then(|| LABEL_1035.to_owned())
}

/// Label and annotation keys: `[prefix/]name`.
pub(crate) fn qualified_name_problem(key: &str) -> Option<String> {
    let (prefix, name) = match key.split_once('/') {
        None => (None, key),
        Some((_, name)) if name.contains('/') => {
            return Some(
                "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')".to_owned(),
            );
        }
        Some((prefix, name)) => (Some(prefix), name),
    };
    if let Some(prefix) = prefix {
        if prefix.is_empty() {
            return Some("prefix part must be non-empty".into());
        }
        if let Some(problem) = dns_subdomain_problem(prefix) {
            return Some(format!("prefix part {problem}"));
        }
    }
    if name.is_empty() {
        return Some("name part must be non-empty".into());
    }
    if name.len() > 63 {
        return Some(format!("name part {}", too_long(63)));
    }
    (!is_qualified(name)).then(|| QUALIFIED.to_owned())
}

pub(crate) fn label_value_problem(value: &str) -> Option<String> {
    if value.len() > 63 {
        return Some(too_long(63));
    }
    (!value.is_empty() && !is_qualified(value)).then(|| VALUE.to_owned())
}

/// The name rule of a resource. Names with a `/` or `%` would not fit a path segment, whatever else is allowed.
pub(crate) fn name_problem(resource: &Resource, name: &str) -> Option<String> {
    match resource.qualified().as_str() {
        // Only this one says characters instead of bytes.
        "namespaces" if name.len() > 63 => Some("must be no more than 63 characters".to_owned()),
        "namespaces" => dns_label_problem(name),
        "services" => dns_1035_problem(name),
        "roles.rbac.authorization.k8s.io"
        | "rolebindings.rbac.authorization.k8s.io"
        | "clusterroles.rbac.authorization.k8s.io"
        | "clusterrolebindings.rbac.authorization.k8s.io" => path_segment_problem(name),
        _ => dns_subdomain_problem(name),
    }
}

fn path_segment_problem(name: &str) -> Option<String> {
    if name == "." || name == ".." {
        return Some(format!("may not be '{name}'"));
    }
    if name.contains('/') {
        return Some("may not contain '/'".into());
    }
    name.contains('%').then(|| "may not contain '%'".into())
}

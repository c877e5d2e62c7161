//! Names that expressions use, and therefore cannot be just any text.

use hyperfleet_source::fields::{Fields, Found};

/// `^[a-z][a-zA-Z0-9_]*$`
pub(super) fn required(
    fields: &mut Fields<'_>,
    key: &'static str,
    found: &mut Found,
) -> Option<String> {
    let node = fields.required_text(key, found)?;
    let name = node.as_str()?;
    if !is_name(name) {
        let message = format!(
            "`{name}` cannot be used in expressions: a name starts with a lower-case letter and \
             has letters, digits and `_` only"
        );
        let mut wrong = node.error(message);
        let better = camel(name);
        if is_name(&better) {
            wrong.help = Some(format!("for example `{better}`"));
        }
        found.push(wrong);
    }
    Some(name.to_owned())
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `my-config-map` as `myConfigMap`.
fn camel(name: &str) -> String {
    let mut better = String::new();
    let mut upper = false;
    for c in name.chars() {
        match c {
            '-' | '.' | ' ' => upper = !better.is_empty(),
            _ if better.is_empty() => better.push(c.to_ascii_lowercase()),
            _ if upper => {
                better.push(c.to_ascii_uppercase());
                upper = false;
            }
            _ => better.push(c),
        }
    }
    better
}

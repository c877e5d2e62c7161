//! Reading a mapping key by key, so that one pass finds every mistake.

use serde_json::Value as Json;

use crate::{Diagnostic, Node, suggest};

/// What is wrong with a file, as it is found.
pub type Found = Vec<Diagnostic>;

/// A mapping being read. Keys match in snake_case and in the camelCase of older documents; a key
/// nobody asked for is a mistake.
pub struct Fields<'n> {
    node: &'n Node,
    /// What it is, for messages: `a parameter`.
    what: &'static str,
    known: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    /// `None`, and a finding, if the node is no mapping.
    pub fn of(node: &'n Node, what: &'static str, found: &mut Found) -> Option<Self> {
        if node.as_mapping().is_none() {
            found.push(node.error(format!("{what} is a mapping, found {}", node.kind())));
            return None;
        }
        Some(Self {
            node,
            what,
            known: Vec::new(),
        })
    }

    /// The value of a key; one that was left empty counts as absent.
    pub fn get(&mut self, key: &'static str) -> Option<&'n Node> {
        self.know(key);
        let entries = self.node.as_mapping().unwrap_or_default();
        let found = entries.iter().find(|(name, _)| matches(&name.text, key));
        found.map(|(_, node)| node).filter(|node| !node.is_null())
    }

    fn know(&mut self, key: &'static str) {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
    }

    /// Also when it is null: `default: null` is a value.
    pub fn get_json(&mut self, key: &'static str) -> Option<Json> {
        self.know(key);
        self.node.get(key).map(Node::to_json)
    }

    /// As [`get`](Self::get); an absent key is a finding.
    pub fn required(&mut self, key: &'static str, found: &mut Found) -> Option<&'n Node> {
        let value = self.get(key);
        if value.is_none() {
            found.push(
                self.node
                    .error(format!("{} needs the key `{key}`", self.what)),
            );
        }
        value
    }

    /// The value of a key that holds text; anything else is a finding.
    pub fn text(&mut self, key: &'static str, found: &mut Found) -> Option<&'n Node> {
        let node = self.get(key)?;
        is_text(node, key, found).then_some(node)
    }

    /// As [`text`](Self::text); an absent key is a finding.
    pub fn required_text(&mut self, key: &'static str, found: &mut Found) -> Option<&'n Node> {
        let node = self.required(key, found)?;
        is_text(node, key, found).then_some(node)
    }

    /// The value of a key that holds true or false.
    pub fn flag(&mut self, key: &'static str, found: &mut Found) -> Option<bool> {
        let node = self.get(key)?;
        let value = node.as_bool();
        if value.is_none() {
            let message = format!("`{key}` is true or false, found {}", node.kind());
            found.push(node.error(message));
        }
        value
    }

    /// The items of a key that holds a list; none if it is absent.
    pub fn list(&mut self, key: &'static str, found: &mut Found) -> &'n [Node] {
        let Some(node) = self.get(key) else {
            return &[];
        };
        match node.as_sequence() {
            Some(items) => items,
            None => {
                found.push(node.error(format!("`{key}` is a list, found {}", node.kind())));
                &[]
            }
        }
    }

    /// Reports the keys nobody asked for.
    pub fn finish(self, found: &mut Found) {
        for (key, _) in self.node.as_mapping().unwrap_or_default() {
            if self.known.iter().any(|known| matches(&key.text, known)) {
                continue;
            }
            let message = format!("{} has no key `{}`", self.what, key.text);
            let mut unknown = key.error(message);
            unknown.help = suggest::help(&key.text, self.known.iter().copied());
            found.push(unknown);
        }
    }
}

fn is_text(node: &Node, key: &str, found: &mut Found) -> bool {
    let is_text = node.as_str().is_some();
    if !is_text {
        found.push(node.error(format!("`{key}` is a text, found {}", node.kind())));
    }
    is_text
}

/// `retryAttempts` is `retry_attempts`.
fn matches(written: &str, key: &str) -> bool {
    written == key || snake(written) == snake(key)
}

fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use crate::{SourceFile, yaml};

    use super::*;

    #[test]
    fn both_spellings_of_a_key_are_read_and_a_misspelt_one_is_reported() {
        let file = SourceFile::new("t.yaml", "apiCall: 1\nby_name: x\ncaptrue: 2\n");
        let node = yaml::parse(&file).unwrap();
        let mut found = Vec::new();
        let mut fields = Fields::of(&node, "a precondition", &mut found).unwrap();
        assert!(fields.get("api_call").is_some());
        assert!(fields.get("by_name").is_some());
        assert!(fields.get("capture").is_none());
        fields.finish(&mut found);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].help.as_deref(), Some("did you mean `capture`?"));
        assert_eq!(found[0].location(), "t.yaml:3:1");
    }
}

//! Paths into JSON.

use hyperfleet_expr::path::Path;
use hyperfleet_source::{Diagnostic, Node};

use hyperfleet_source::fields::Found;

pub(super) fn path(node: &Node, found: &mut Found) -> Option<Path> {
    let text = node.as_str()?;
    match Path::parse(text) {
        Ok(path) => Some(path),
        Err(error) => {
            let span = node.span_in(error.offset..error.offset + 1);
            let message = format!("in the path: {}", error.message);
            found.push(Diagnostic::error(&node.file, span, message));
            None
        }
    }
}

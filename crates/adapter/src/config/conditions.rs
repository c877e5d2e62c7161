//! `conditions`: field, operator and value.

use hyperfleet_expr::structured::{Condition, ConditionError, Operator};
use hyperfleet_source::{Diagnostic, Node, suggest};

use super::scope::Scope;
use hyperfleet_source::fields::{Fields, Found};

pub(super) fn conditions(node: &Node, scope: &Scope, found: &mut Found) -> Option<Vec<Condition>> {
    let Some(items) = node.as_sequence() else {
        found.push(node.error(format!("`conditions` is a list, found {}", node.kind())));
        return None;
    };
    let all: Vec<_> = items
        .iter()
        .map(|item| condition(item, scope, found))
        .collect();
    all.into_iter().collect()
}

fn condition(node: &Node, scope: &Scope, found: &mut Found) -> Option<Condition> {
    let mut fields = Fields::of(node, "a condition", found)?;
    let field = fields.required_text("field", found);
    let operator = fields.required_text("operator", found);
    let value = fields.get_json("value");
    let values = fields.get_json("values");
    fields.text("description", found);
    if value.is_some() && values.is_some() {
        found.push(node.error("`value` and `values` are the same: write one of them"));
    }
    fields.finish(found);
    let (field, operator) = (field?, operator?);
    let known = match Operator::parse(operator.as_str()?) {
        Ok(known) => known,
        Err(error) => {
            found.push(operator.error(error.to_string()));
            return None;
        }
    };
    match Condition::new(field.as_str()?, known, value.or(values)) {
        Ok(condition) => {
            check_root(field, &condition, scope, found);
            Some(condition)
        }
        Err(ConditionError::Field(error)) => {
            let span = field.span_in(error.offset..error.offset + 1);
            let message = format!("in the path: {}", error.message);
            found.push(Diagnostic::error(&field.file, span, message));
            None
        }
        Err(error) => {
            found.push(operator.error(error.to_string()));
            None
        }
    }
}

fn check_root(node: &Node, condition: &Condition, scope: &Scope, found: &mut Found) {
    let Some(root) = condition.field().root() else {
        found.push(node.error("the path must start with the name of a value"));
        return;
    };
    if let Some(text) = node.as_str() {
        scope.check_path(node, text, text, found);
    }
    if !scope.has(root) {
        let mut wrong = node.error(format!("nothing is named `{root}` here"));
        wrong.help = suggest::help(root, scope.names());
        found.push(wrong);
    }
}

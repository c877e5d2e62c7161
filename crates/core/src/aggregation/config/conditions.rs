//! `clusterConditions`: a type, a rule, and what to say when it holds and when it does not.

use hyperfleet_expr::cel::Problems;
use hyperfleet_expr::rules::Rule;
use hyperfleet_source::fields::{Fields, Found};
use hyperfleet_source::{Diagnostic, Node};

use super::Written;
use crate::aggregation::rule::{
    ConditionRule, LONGEST_MESSAGE, LONGEST_REASON, LONGEST_TYPE, Test, Words,
};
use crate::aggregation::variables::environment;

/// More conditions than anybody reads.
const MOST: usize = 100;

pub(super) fn read(fields: &mut Fields<'_>, found: &mut Found) -> Vec<Written<ConditionRule>> {
    let of_clusters = fields.list("clusterConditions", found);
    let items = match (of_clusters, fields.list("conditions", found)) {
        ([], items) | (items, []) => items,
        (_, [second, ..]) => {
            let message = "`conditions` is another name of `clusterConditions`: give one of them";
            found.push(second.error(message));
            return Vec::new();
        }
    };
    if let Some(extra) = items.get(MOST) {
        found.push(extra.error(format!("there are more than {MOST} conditions")));
        return Vec::new();
    }
    let mut rules: Vec<Written<ConditionRule>> = Vec::with_capacity(items.len());
    for item in items {
        let Some((place, rule)) = condition(item, found) else {
            continue;
        };
        match rules.iter().any(|known| known.value.kind == rule.kind) {
            true => found.push(place.error(format!("condition `{}` is there twice", rule.kind))),
            false => rules.push(Written::at(place, rule)),
        }
    }
    rules
}

fn condition<'n>(node: &'n Node, found: &mut Found) -> Option<(&'n Node, ConditionRule)> {
    let mut fields = Fields::of(node, "a condition", found)?;
    let kind = fields.required_text("type", found);
    let evaluate = fields.required("evaluate", found);
    let templates = fields.get("templates");
    fields.finish(found);
    let (kind, test) = (kind, evaluate.and_then(|node| test(node, found)));
    let words = templates.map(|node| templates_of(node, found));
    let (kind, test) = (kind?, test?);
    let name = kind.as_str().unwrap_or_default();
    if name.is_empty() || name.chars().count() > LONGEST_TYPE {
        found.push(kind.error(format!("a type has 1 to {LONGEST_TYPE} characters")));
        return None;
    }
    let [when_true, when_false] = words.unwrap_or_default();
    Some((
        kind,
        ConditionRule {
            when_true: when_true.unwrap_or_else(|| unsaid("RuleHolds", "holds", &test)),
            when_false: when_false
                .unwrap_or_else(|| unsaid("RuleDoesNotHold", "does not hold", &test)),
            kind: name.to_owned(),
            test,
        },
    ))
}

/// What a condition without templates says.
fn unsaid(reason: &str, outcome: &str, test: &Test) -> Words {
    Words {
        reason: reason.to_owned(),
        message: format!("`{}` {outcome}", test.text()),
    }
}

fn test(node: &Node, found: &mut Found) -> Option<Test> {
    let mut fields = Fields::of(node, "a rule", found)?;
    let expr = fields.text("expr", found);
    let cel = fields.text("cel", found);
    fields.finish(found);
    let text = |node: &Node| node.as_str().unwrap_or_default().to_owned();
    match (expr, cel) {
        (Some(node), None) => Rule::compile(&text(node), &environment())
            .map(Test::Expr)
            .map_err(|problems| report(node, problems, found))
            .ok(),
        (None, Some(node)) => environment()
            .compile_predicate(&text(node))
            .map(Test::Cel)
            .map_err(|problems| report(node, problems, found))
            .ok(),
        _ => {
            found.push(node.error("a rule has either `expr` or `cel`"));
            None
        }
    }
}

fn report(node: &Node, problems: Problems, found: &mut Found) {
    for problem in problems {
        let message = format!("in the rule: {}", problem.message);
        let mut wrong = Diagnostic::error(&node.file, node.span_in(problem.span), message);
        wrong.help = problem.help;
        found.push(wrong);
    }
}

/// What is said when the rule holds, and when it does not.
fn templates_of(node: &Node, found: &mut Found) -> [Option<Words>; 2] {
    let Some(mut fields) = Fields::of(node, "`templates`", found) else {
        return [None, None];
    };
    let (yes, no) = (fields.get("true"), fields.get("false"));
    fields.finish(found);
    [yes, no].map(|node| words(node?, found))
}

fn words(node: &Node, found: &mut Found) -> Option<Words> {
    let mut fields = Fields::of(node, "a template", found)?;
    let reason = fields.required_text("reason", found);
    let message = fields.text("message", found);
    fields.finish(found);
    Some(Words {
        reason: bounded(reason?, "reason", LONGEST_REASON, found)?,
        message: match message {
            Some(message) => bounded(message, "message", LONGEST_MESSAGE, found)?,
            None => String::new(),
        },
    })
}

fn bounded(node: &Node, what: &str, most: usize, found: &mut Found) -> Option<String> {
    let text = node.as_str()?;
    if text.len() > most {
        let length = text.len();
        let message = format!("a {what} has at most {most} bytes, this has {length}");
        found.push(node.error(message));
        return None;
    }
    Some(text.to_owned())
}

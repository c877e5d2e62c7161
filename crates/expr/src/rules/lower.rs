//! A rule as CEL text, remembering which part came from where.

use std::fmt::Write as _;

use super::ast::{Expr, Function, Kind, Operator};
use super::{Lowered, SpanMap};

pub(super) fn lower(text: &str, expr: &Expr) -> Lowered {
    let mut writer = Writer {
        out: String::with_capacity(text.len() * 2),
        map: SpanMap::default(),
        depth: 0,
    };
    writer.expr(expr);
    Lowered {
        cel: writer.out,
        map: writer.map,
    }
}

struct Writer {
    out: String,
    map: SpanMap,
    /// Local variables in scope are `_1` … `_depth`; the last one that a closure
    /// bound is its element.
    depth: usize,
}

impl Writer {
    fn expr(&mut self, expr: &Expr) {
        self.element(expr, None);
    }

    /// Writes an expression; `element` is the local that `#` stands for.
    fn element(&mut self, expr: &Expr, element: Option<usize>) {
        let start = self.out.len();
        self.kind(&expr.kind, element);
        self.map.0.push((start..self.out.len(), expr.span.clone()));
    }

    fn text(&mut self, text: &str) {
        // JSON escapes are CEL escapes too.
        self.out
            .push_str(&serde_json::Value::from(text).to_string());
    }

    fn call(&mut self, name: &str, args: &[&Expr], element: Option<usize>) {
        self.out.push_str(name);
        self.out.push('(');
        for (i, arg) in args.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.element(arg, element);
        }
        self.out.push(')');
    }

    fn infix(&mut self, left: &Expr, operator: &str, right: &Expr, element: Option<usize>) {
        self.out.push('(');
        self.element(left, element);
        write!(self.out, " {operator} ").unwrap_or_default();
        self.element(right, element);
        self.out.push(')');
    }

    /// `a || b || c` without inner parentheses: CEL limits their nesting.
    fn chain(&mut self, operator: Operator, left: &Expr, right: &Expr, element: Option<usize>) {
        match &left.kind {
            Kind::Binary {
                operator: inner,
                left: a,
                right: b,
            } if *inner == operator => self.chain(operator, a, b, element),
            _ => self.element(left, element),
        }
        self.out.push_str(match operator {
            Operator::Or => " || ",
            _ => " && ",
        });
        self.element(right, element);
    }

    fn method(&mut self, receiver: &Expr, name: &str, arg: &Expr, element: Option<usize>) {
        self.out.push('(');
        self.element(receiver, element);
        write!(self.out, ").{name}(").unwrap_or_default();
        self.element(arg, element);
        self.out.push(')');
    }

    fn kind(&mut self, kind: &Kind, element: Option<usize>) {
        match kind {
            Kind::Nil => self.out.push_str("null"),
            Kind::Bool(b) => write!(self.out, "{b}").unwrap_or_default(),
            Kind::Int(i) => write!(self.out, "{i}").unwrap_or_default(),
            Kind::Float(f) => write!(self.out, "{f:?}").unwrap_or_default(),
            Kind::Text(text) => self.text(text),
            Kind::Name(name) => self.out.push_str(name),
            Kind::Element => match element {
                Some(local) => write!(self.out, "_{local}").unwrap_or_default(),
                // The parser lets `#` stand in closures only.
                None => self.out.push_str("null"),
            },
            Kind::List(items) => {
                self.out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(", ");
                    }
                    self.element(item, element);
                }
                self.out.push(']');
            }
            Kind::Map(entries) => {
                self.out.push('{');
                for (i, (key, value)) in entries.iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(", ");
                    }
                    self.element(key, element);
                    self.out.push_str(": ");
                    self.element(value, element);
                }
                self.out.push('}');
            }
            Kind::Get { base, key, safe } => {
                let name = if *safe { "__get_safe" } else { "__get" };
                self.call(name, &[base, key], element);
            }
            Kind::Not(inner) => {
                self.out.push_str("!(");
                self.element(inner, element);
                self.out.push(')');
            }
            Kind::Negate(inner) => self.call("__negate", &[inner], element),
            Kind::Choose { test, yes, no } => {
                self.out.push('(');
                self.element(test, element);
                self.out.push_str(" ? ");
                self.element(yes, element);
                self.out.push_str(" : ");
                self.element(no, element);
                self.out.push(')');
            }
            Kind::Binary {
                operator,
                left,
                right,
            } => self.binary(*operator, left, right, element),
            Kind::Call { function, args } => self.function(*function, args, element),
        }
    }

    fn binary(&mut self, operator: Operator, left: &Expr, right: &Expr, element: Option<usize>) {
        match operator {
            Operator::Or | Operator::And => {
                self.out.push('(');
                self.chain(operator, left, right, element);
                self.out.push(')');
            }
            Operator::Equal => self.infix(left, "==", right, element),
            Operator::NotEqual => self.infix(left, "!=", right, element),
            Operator::Contains => self.method(left, "contains", right, element),
            Operator::StartsWith => self.method(left, "startsWith", right, element),
            Operator::EndsWith => self.method(left, "endsWith", right, element),
            Operator::Matches => self.method(left, "matches", right, element),
            // The left side is computed once, the right one only if it is needed.
            Operator::Coalesce => {
                self.depth += 1;
                let local = self.depth;
                write!(self.out, "cel.bind(_{local}, ").unwrap_or_default();
                self.element(left, element);
                write!(self.out, ", _{local} != null ? _{local} : ").unwrap_or_default();
                self.element(right, element);
                self.out.push(')');
                self.depth -= 1;
            }
            Operator::Less => self.call("__less", &[left, right], element),
            Operator::LessOrEqual => self.call("__less_or_equal", &[left, right], element),
            Operator::Greater => self.call("__less", &[right, left], element),
            Operator::GreaterOrEqual => self.call("__less_or_equal", &[right, left], element),
            Operator::In => self.call("__in", &[left, right], element),
            Operator::Add => self.call("__add", &[left, right], element),
            Operator::Subtract => self.call("__subtract", &[left, right], element),
            Operator::Multiply => self.call("__multiply", &[left, right], element),
            Operator::Divide => self.call("__divide", &[left, right], element),
            Operator::Remainder => self.call("__remainder", &[left, right], element),
            Operator::Power => self.call("__power", &[left, right], element),
        }
    }

    fn function(&mut self, function: Function, args: &[Expr], element: Option<usize>) {
        let Some(first) = args.first() else {
            return;
        };
        let (macro_name, before, after) = match function {
            Function::All => ("all", "", ""),
            Function::Any => ("exists", "", ""),
            Function::None => ("exists", "!", ""),
            Function::One => ("exists_one", "", ""),
            Function::Filter => ("filter", "", ""),
            Function::Map => ("map", "", ""),
            Function::Count => ("filter", "size(", ")"),
            Function::Find => ("filter", "__first(", ")"),
            Function::Len => return self.call("__len", &[first], element),
            Function::First => return self.call("__first", &[first], element),
            Function::Last => return self.call("__last", &[first], element),
            Function::Sum => return self.call("__sum", &[first], element),
            Function::Lower => return self.call("__lower", &[first], element),
            Function::Upper => return self.call("__upper", &[first], element),
            Function::Trim => return self.call("__trim", &[first], element),
        };
        self.out.push_str(before);
        self.out.push_str("__list(");
        self.element(first, element);
        self.depth += 1;
        let local = self.depth;
        write!(self.out, ").{macro_name}(_{local}, ").unwrap_or_default();
        match args.get(1) {
            Some(body) => self.element(body, Some(local)),
            // `count(list)` counts what is true.
            None => write!(self.out, "_{local} == true").unwrap_or_default(),
        }
        self.depth -= 1;
        self.out.push(')');
        self.out.push_str(after);
    }
}

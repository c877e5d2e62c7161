//! Function calls: which function is meant, and whether it takes these arguments.

use hyperfleet_source::suggest::nearest;
use std::sync::Arc;

use super::{Compiler, Typed, fold};
use crate::cel::ast::{Expr, Name};
use crate::cel::environment::Check;
use crate::cel::error::ErrorKind;
use crate::cel::function::{Function, Style};
use crate::cel::library::{self, Builtin};
use crate::cel::pattern::Pattern;
use crate::cel::plan::{Alternative, Kind, Node};
use crate::cel::span::Span;
use crate::cel::typing::Type;

impl Compiler<'_> {
    pub(super) fn call(
        &mut self,
        expr: &Expr,
        target: Option<&Expr>,
        name: &Name,
        args: &[Expr],
    ) -> Typed {
        if let Some(expanded) = self.macro_call(expr, target, name, args) {
            return expanded;
        }
        let Some(target) = target else {
            return self.function(expr.span, name.span, &name.text, Style::Global, None, args);
        };
        if let Some(qualified) = self.namespaced(target, name) {
            let at = target.span.to(name.span);
            return self.function(expr.span, at, &qualified, Style::Global, None, args);
        }
        if let Some(near) = self.misspelt_macro(&name.text) {
            // The arguments are not looked at: they use variables the macro would have introduced.
            self.expr(target);
            let help = format!("did you mean `{near}`?");
            let message = format!("unknown function `{}`", name.text);
            self.problem_with_help(name.span, message, Some(help));
            return self.broken(expr.span);
        }
        self.function(
            expr.span,
            name.span,
            &name.text,
            Style::Member,
            Some(target),
            args,
        )
    }

    fn misspelt_macro(&self, name: &str) -> Option<&'static str> {
        let defined = [Style::Member, Style::Global]
            .into_iter()
            .any(|style| !self.arities(name, style).is_empty());
        if defined || !self.checks_types() || nearest(name, self.names(Style::Member)).is_some() {
            return None;
        }
        nearest(name, super::macros::NAMES)
    }

    /// `math.greatest` when `math` is no variable and such a function exists.
    fn namespaced(&self, target: &Expr, name: &Name) -> Option<String> {
        let parts = target.qualified_name()?;
        if !parts[0].rooted && self.local(&parts[0].text).is_some() {
            return None;
        }
        if self.env.variables.contains_key(&parts[0].text) {
            return None;
        }
        let mut qualified: String = parts.iter().map(|n| format!("{}.", n.text)).collect();
        qualified.push_str(&name.text);
        let host = self
            .env
            .functions
            .iter()
            .any(|f| f.style == Style::Global && f.name == qualified);
        let exists = host || library::named(&qualified, Style::Global).next().is_some();
        // `math.foo` and `mth.abs` are misspelt functions rather than unknown variables.
        let meant = self.env.check == Check::All
            && (library::all().any(|b| {
                b.name
                    .split_once('.')
                    .is_some_and(|(space, _)| space == parts[0].text)
            }) || nearest(
                &qualified,
                self.names(Style::Global).filter(|n| n.contains('.')),
            )
            .is_some());
        (exists || meant).then_some(qualified)
    }

    fn names(&self, style: Style) -> impl Iterator<Item = &str> {
        let host = self
            .env
            .functions
            .iter()
            .filter(move |f| f.style == style)
            .map(|f| f.name.as_str());
        host.chain(
            library::all()
                .filter(move |b| b.style == style)
                .map(|b| b.name),
        )
    }

    fn function(
        &mut self,
        span: Span,
        at: Span,
        name: &str,
        style: Style,
        target: Option<&Expr>,
        args: &[Expr],
    ) -> Typed {
        let args: Vec<Typed> = target
            .into_iter()
            .chain(args)
            .map(|arg| self.expr(arg))
            .collect();
        let written = args.len() - usize::from(target.is_some());
        let types: Vec<Type> = args.iter().map(|arg| arg.ty).collect();
        let nodes: Vec<Node> = args.into_iter().map(|arg| arg.node).collect();
        let host = self.env.functions.iter().rev();
        let host = host
            .filter(|f| f.style == style && f.name == name)
            .find(|f| f.arity.contains(&written));
        if let Some(function) = host {
            let function = Arc::clone(function);
            let ty = function.returns;
            return self.typed(span, Kind::Host(function, nodes.into()), ty);
        }
        let builtin = library::named(name, style).find(|b| b.takes_count(nodes.len()));
        if let Some(builtin) = builtin {
            return self.builtin(span, builtin, nodes, &types);
        }
        if self.checks_types() {
            self.unknown_function(at, name, style, written);
            return self.broken(span);
        }
        let (message, kind) = match self.wrong_count(name, style, written) {
            Some(message) => (message, ErrorKind::NoSuchOverload),
            None => (
                format!("unknown function `{name}`"),
                ErrorKind::UndeclaredName,
            ),
        };
        self.typed(span, Kind::Undefined(message.into(), kind), Type::Dyn)
    }

    fn builtin(
        &mut self,
        span: Span,
        builtin: &'static Builtin,
        nodes: Vec<Node>,
        types: &[Type],
    ) -> Typed {
        if !builtin.pure && !self.env.has_clock {
            self.no_clock(span, builtin.name);
        }
        if self.checks_types() && !builtin.takes(types) {
            self.wrong_types(span, builtin, types);
            return self.typed(span, Kind::Builtin(builtin, nodes.into()), builtin.returns);
        }
        let kind = match (builtin.name, nodes.as_slice()) {
            (
                "timestamp",
                [
                    Node {
                        kind: Kind::Builtin(inner, _),
                        ..
                    },
                ],
            ) if inner.name == "now" => Kind::NowTimestamp,
            ("matches", [_, pattern]) if pattern.constant().is_some() => {
                self.matches(builtin, nodes)
            }
            ("or" | "orValue", [_, _]) => {
                let alternative = if builtin.name == "or" {
                    Alternative::Optional
                } else {
                    Alternative::Value
                };
                match <[Node; 2]>::try_from(nodes) {
                    Ok(nodes) => Kind::OptionalOr(Box::new(nodes), alternative),
                    Err(nodes) => Kind::Builtin(builtin, nodes.into()),
                }
            }
            _ => {
                let folded = fold::call(builtin, &nodes, &self.env.limits);
                if folded.is_none() {
                    self.hopeless_literal(builtin, &nodes);
                }
                folded.unwrap_or_else(|| Kind::Builtin(builtin, nodes.into()))
            }
        };
        self.typed(span, kind, builtin.returns)
    }

    fn matches(&mut self, builtin: &'static Builtin, mut nodes: Vec<Node>) -> Kind {
        let Some(pattern) = nodes[1].constant().and_then(|v| v.as_str()) else {
            return Kind::Builtin(builtin, nodes.into());
        };
        match Pattern::new(pattern, &self.env.limits) {
            Ok(pattern) => Kind::Matches(Box::new(nodes.swap_remove(0)), pattern),
            Err(e) => {
                if self.checks_types() {
                    self.problem(nodes[1].span, e.message);
                }
                Kind::Builtin(builtin, nodes.into())
            }
        }
    }

    /// A literal that no run can convert, such as `duration("ten minutes")`, is a mistake now.
    fn hopeless_literal(&mut self, builtin: &'static Builtin, nodes: &[Node]) {
        let ("timestamp" | "duration", [node]) = (builtin.name, nodes) else {
            return;
        };
        let Some(value) = node.constant().filter(|_| self.checks_types()) else {
            return;
        };
        let mut meter =
            crate::cel::meter::Meter::new(&self.env.limits, chrono::DateTime::UNIX_EPOCH);
        if let Err(crate::cel::error::Fault::Error(e)) =
            (builtin.run)(&mut meter, std::slice::from_ref(value))
            && e.kind == ErrorKind::InvalidArgument
        {
            self.problem(node.span, e.message);
        }
    }

    /// Not part of its caller, whose frame counts once for every level of nesting.
    fn no_clock(&mut self, span: Span, name: &str) {
        self.problem(
            span,
            format!("`{name}` depends on the time, which is not known here"),
        );
    }

    fn wrong_types(&mut self, span: Span, builtin: &'static Builtin, types: &[Type]) {
        let shown: Vec<String> = types.iter().map(Type::to_string).collect();
        let message = match (builtin.style, shown.split_first()) {
            (Style::Member, Some((receiver, args))) => {
                format!(
                    "`{}` is not defined for {receiver} with ({})",
                    builtin.name,
                    args.join(", ")
                )
            }
            _ => format!(
                "`{}` is not defined for ({})",
                builtin.name,
                shown.join(", ")
            ),
        };
        self.problem(span, message);
    }

    fn unknown_function(&mut self, at: Span, name: &str, style: Style, written: usize) {
        let other = if style == Style::Global {
            Style::Member
        } else {
            Style::Global
        };
        if let Some(message) = self.wrong_count(name, style, written) {
            return self.problem(at, message);
        }
        if !self.arities(name, other).is_empty() {
            let (message, help) = match style {
                Style::Global => (
                    format!("`{name}` is a method"),
                    format!("call it on a value: x.{name}(…)"),
                ),
                Style::Member => (
                    format!("`{name}` is a function, not a method"),
                    format!("write {name}(x)"),
                ),
            };
            return self.problem_with_help(at, message, Some(help));
        }
        let near = nearest(name, self.names(style)).or_else(|| nearest(name, self.names(other)));
        let help = near.map(|near| format!("did you mean `{near}`?"));
        self.problem_with_help(at, format!("unknown function `{name}`"), help);
    }

    /// What to say when there is such a function, but not for so many arguments.
    fn wrong_count(&self, name: &str, style: Style, written: usize) -> Option<String> {
        let counts = self.arities(name, style);
        (!counts.is_empty()).then(|| format!("`{name}` takes {}, {written} given", plural(&counts)))
    }

    /// Numbers of arguments, without a receiver, that a function of the name takes.
    fn arities(&self, name: &str, style: Style) -> Vec<String> {
        let receiver = usize::from(style == Style::Member);
        let builtin = library::named(name, style).map(|b| {
            let count = b.params.len() - receiver;
            if b.variadic {
                format!("{count} or more")
            } else {
                count.to_string()
            }
        });
        let host = self
            .env
            .functions
            .iter()
            .filter(|f| f.style == style && f.name == name)
            .map(|f: &Arc<Function>| {
                let (least, most) = (f.arity.start(), f.arity.end());
                if least == most {
                    least.to_string()
                } else {
                    format!("{least} to {most}")
                }
            });
        builtin.chain(host).collect()
    }
}

fn plural(counts: &[String]) -> String {
    match counts {
        [one] if one == "1" => "1 argument".to_owned(),
        [one] if one == "0" => "no arguments".to_owned(),
        many => format!("{} arguments", many.join(" or ")),
    }
}

//! Variables and type names.

use super::{Compiler, Typed};
use crate::cel::ast::{Access, Expr, Name};
use crate::cel::environment::Check;
use crate::cel::plan::Kind;
use crate::cel::span::Span;
use crate::cel::typing::Type;
use crate::cel::value::Value;
use hyperfleet_source::suggest::nearest;

impl Compiler<'_> {
    /// A plain name or a chain `a.b.c`: locals first, then the longest declared prefix, then type names.
    pub(super) fn name(&mut self, expr: &Expr) -> Typed {
        let Some(parts) = expr.qualified_name() else {
            return self.broken(expr.span);
        };
        let first = parts[0];
        if !first.rooted
            && let Some(slot) = self.local(&first.text)
        {
            let ty = self.scope[slot].ty;
            let root = self.typed(first.span, Kind::Local(slot as u32), ty);
            return self.fields(root, &parts[1..]);
        }
        for taken in (1..=parts.len()).rev() {
            let name = parts[..taken]
                .iter()
                .map(|n| n.text.as_str())
                .collect::<Vec<_>>()
                .join(".");
            let span = first.span.to(parts[taken - 1].span);
            for candidate in self.candidates(&name, first.rooted) {
                if let Some(ty) = self.env.variables.get(&candidate) {
                    let ty = *ty;
                    let root = self.variable(span, candidate, ty);
                    return self.fields(root, &parts[taken..]);
                }
            }
            if let Some(ty) = Type::named(&name) {
                let root = match self.env.check {
                    Check::All => self.typed(span, Kind::Constant(Value::Type(ty)), Type::Type),
                    Check::OpenNames | Check::Syntax => {
                        self.typed(span, Kind::TypeName(ty), Type::Dyn)
                    }
                };
                return self.fields(root, &parts[taken..]);
            }
        }
        if self.env.check == Check::All {
            self.unknown_variable(first);
            return self.broken(expr.span);
        }
        let root = self.variable(first.span, first.text.clone(), Type::Dyn);
        self.fields(root, &parts[1..])
    }

    /// Position of the innermost local of that name.
    pub(super) fn local(&self, name: &str) -> Option<usize> {
        self.scope.iter().rposition(|local| local.name == name)
    }

    /// The name in the container, in its parents, and alone.
    fn candidates(&self, name: &str, rooted: bool) -> Vec<String> {
        let mut out = Vec::new();
        let mut container = self.env.container.as_str();
        while !rooted && !container.is_empty() {
            out.push(format!("{container}.{name}"));
            container = container.rsplit_once('.').map_or("", |(parent, _)| parent);
        }
        out.push(name.to_owned());
        out
    }

    fn variable(&mut self, span: Span, name: String, ty: Type) -> Typed {
        let index = self
            .references
            .iter()
            .position(|known| *known == name)
            .unwrap_or_else(|| {
                self.references.push(name);
                self.references.len() - 1
            });
        self.typed(span, Kind::Variable(index as u32), ty)
    }

    fn fields(&mut self, root: Typed, fields: &[&Name]) -> Typed {
        fields.iter().fold(root, |operand, field| {
            let span = operand.node.span.to(field.span);
            self.select_from(span, operand, &field.text, Access::Required)
        })
    }

    fn unknown_variable(&mut self, name: &Name) {
        let locals = self.scope.iter().map(|local| local.name.as_str());
        let known = locals.chain(self.env.variables.keys().map(String::as_str));
        let help = match nearest(&name.text, known) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None if self.env.variables.is_empty() => None,
            None => {
                let names: Vec<_> = self.env.variables.keys().map(String::as_str).collect();
                Some(format!("known here: {}", names.join(", ")))
            }
        };
        self.problem_with_help(name.span, format!("unknown variable `{}`", name.text), help);
    }
}

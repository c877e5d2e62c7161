//! Macros: calls whose arguments are not evaluated first.

use super::{Compiler, Local, Typed};
use crate::cel::ast::{Access, Expr, ExprKind, Name};
use crate::cel::plan::{Comprehension, Fold, Kind, OptionalMap};
use crate::cel::typing::Type;

/// Macros called as methods, for suggestions.
pub(super) const NAMES: [&str; 12] = [
    "all",
    "exists",
    "exists_one",
    "existsOne",
    "map",
    "filter",
    "transformList",
    "transformMap",
    "transformMapEntry",
    "sortBy",
    "optMap",
    "optFlatMap",
];

/// How a comprehension's arguments are laid out: variables, whether a filter precedes the body, what is built.
struct Shape {
    variables: usize,
    filter: bool,
    fold: Fold,
}

fn shape(name: &str, args: usize) -> Option<Shape> {
    let (variables, filter, fold) = match (name, args) {
        ("all", 2) => (1, false, Fold::All),
        ("all", 3) => (2, false, Fold::All),
        ("exists", 2) => (1, false, Fold::Exists),
        ("exists", 3) => (2, false, Fold::Exists),
        ("exists_one" | "existsOne", 2) => (1, false, Fold::ExistsOne),
        ("exists_one" | "existsOne", 3) => (2, false, Fold::ExistsOne),
        ("filter", 2) => (1, false, Fold::Filter),
        ("map", 2) => (1, false, Fold::List),
        ("map", 3) => (1, true, Fold::List),
        ("sortBy", 2) => (1, false, Fold::SortBy),
        ("transformList", 3) => (2, false, Fold::List),
        ("transformList", 4) => (2, true, Fold::List),
        ("transformMap", 3) => (2, false, Fold::Map),
        ("transformMap", 4) => (2, true, Fold::Map),
        ("transformMapEntry", 3) => (2, false, Fold::MapEntry),
        ("transformMapEntry", 4) => (2, true, Fold::MapEntry),
        _ => return None,
    };
    Some(Shape {
        variables,
        filter,
        fold,
    })
}

/// What a macro called with the wrong number of arguments should look like.
fn usage(name: &str) -> &'static str {
    match name {
        "all" | "exists" | "exists_one" | "existsOne" => {
            "(x, condition) or (key, value, condition)"
        }
        "map" => "(x, result) or (x, condition, result)",
        "filter" => "(x, condition)",
        "sortBy" => "(x, key)",
        "optMap" | "optFlatMap" => "(x, result)",
        _ => "(key, value, result) or (key, value, condition, result)",
    }
}

impl Compiler<'_> {
    /// `None` when the call is an ordinary one.
    pub(super) fn macro_call(
        &mut self,
        expr: &Expr,
        target: Option<&Expr>,
        name: &Name,
        args: &[Expr],
    ) -> Option<Typed> {
        let Some(target) = target else {
            return (name.text == "has" && !name.rooted).then(|| self.has(expr, args));
        };
        if name.text == "bind" && self.is_cel(target) {
            return Some(self.bind(expr, args));
        }
        if !NAMES.contains(&name.text.as_str()) || self.is_host_method(&name.text) {
            return None;
        }
        if let ("optMap" | "optFlatMap", [variable, body]) = (name.text.as_str(), args) {
            return Some(self.optional_map(
                expr,
                target,
                variable,
                body,
                name.text == "optFlatMap",
            ));
        }
        match shape(&name.text, args.len()) {
            Some(shape) => Some(self.comprehension(expr, target, args, &shape)),
            None => {
                let usage = usage(&name.text);
                self.problem(
                    name.span,
                    format!("`{}` is written {}{usage}", name.text, name.text),
                );
                Some(self.broken(expr.span))
            }
        }
    }

    fn is_cel(&self, target: &Expr) -> bool {
        matches!(&target.kind, ExprKind::Ident(name) if name.text == "cel" && self.local("cel").is_none())
    }

    fn is_host_method(&self, name: &str) -> bool {
        self.env
            .functions
            .iter()
            .any(|f| f.style == crate::cel::function::Style::Member && f.name == name)
    }

    fn has(&mut self, expr: &Expr, args: &[Expr]) -> Typed {
        let [
            Expr {
                kind: ExprKind::Select(operand, field, Access::Required),
                ..
            },
        ] = args
        else {
            let help =
                "for an optional field write a.?b.hasValue(), for a key `\"b\" in a`".to_owned();
            self.problem_with_help(
                expr.span,
                "`has` takes one field selection, as in has(a.b)",
                Some(help),
            );
            return self.broken(expr.span);
        };
        let operand = self.expr(operand);
        self.expect_fields(&operand, &field.text);
        let kind = Kind::Present(Box::new(operand.node), field.text.as_str().into());
        self.typed(expr.span, kind, Type::Bool)
    }

    fn bind(&mut self, expr: &Expr, args: &[Expr]) -> Typed {
        let [variable, value, body] = args else {
            self.problem(
                expr.span,
                "`cel.bind` is written cel.bind(x, value, result)",
            );
            return self.broken(expr.span);
        };
        let value = self.expr(value);
        let name = self.variable_name(variable);
        let slot = self.enter(name, value.ty);
        let body = self.expr(body);
        self.scope.pop();
        self.typed(
            expr.span,
            Kind::Bind(slot, Box::new([value.node, body.node])),
            body.ty,
        )
    }

    fn optional_map(
        &mut self,
        expr: &Expr,
        target: &Expr,
        variable: &Expr,
        body: &Expr,
        flat: bool,
    ) -> Typed {
        let target = self.expr(target);
        if self.checks_types() && !matches!(target.ty, Type::Optional | Type::Dyn) {
            let text = self.text(target.node.span);
            self.problem(
                target.node.span,
                format!("`{text}` is {}, not optional", target.ty),
            );
        }
        let name = self.variable_name(variable);
        let slot = self.enter(name, Type::Dyn);
        let body = self.expr(body);
        self.scope.pop();
        let map = OptionalMap {
            target: target.node,
            slot,
            body: body.node,
            flat,
        };
        self.typed(expr.span, Kind::OptionalMap(Box::new(map)), Type::Optional)
    }

    fn comprehension(&mut self, expr: &Expr, target: &Expr, args: &[Expr], shape: &Shape) -> Typed {
        let range = self.expr(target);
        if self.checks_types() && !matches!(range.ty, Type::List | Type::Map | Type::Dyn) {
            let text = self.text(range.node.span);
            self.problem(
                range.node.span,
                format!("`{text}` is {}, not a list or map", range.ty),
            );
        }
        self.nesting += 1;
        if self.nesting > self.env.limits.comprehension_nesting {
            let most = self.env.limits.comprehension_nesting;
            self.problem(expr.span, format!("loops are nested more than {most} deep"));
        }
        let names: Vec<String> = args[..shape.variables]
            .iter()
            .map(|arg| self.variable_name(arg))
            .collect();
        if names.len() == 2 && names[0] == names[1] && !names[0].is_empty() {
            self.problem(
                args[1].span,
                format!("the variable `{}` is declared twice", names[1]),
            );
        }
        // Index of a list or key of a map come first when there are two variables.
        let first = if shape.variables == 2 && range.ty == Type::List {
            Type::Int
        } else {
            Type::Dyn
        };
        let slots: Vec<u32> = names
            .into_iter()
            .zip([first, Type::Dyn])
            .map(|(name, ty)| self.enter(name, ty))
            .collect();
        let mut rest = args[shape.variables..].iter();
        let filter = if shape.filter { rest.next() } else { None }.map(|filter| {
            let filter = self.expr(filter);
            self.expect_bool(&filter, "the filter");
            filter.node
        });
        let body = match rest.next() {
            Some(body) => self.expr(body),
            None => self.broken(expr.span),
        };
        let ty = self.result_type(shape.fold, &body);
        self.scope.truncate(self.scope.len() - slots.len());
        self.nesting -= 1;
        let comprehension = Comprehension {
            fold: shape.fold,
            range: range.node,
            slot: slots[0],
            second: slots.get(1).copied(),
            filter,
            body: body.node,
        };
        self.typed(expr.span, Kind::Comprehension(Box::new(comprehension)), ty)
    }

    fn result_type(&mut self, fold: Fold, body: &Typed) -> Type {
        match fold {
            Fold::All | Fold::Exists | Fold::ExistsOne => {
                self.expect_bool(body, "the condition");
                Type::Bool
            }
            Fold::Filter => {
                self.expect_bool(body, "the condition");
                Type::List
            }
            Fold::List | Fold::SortBy => Type::List,
            Fold::Map => Type::Map,
            Fold::MapEntry => {
                if self.checks_types() && !matches!(body.ty, Type::Map | Type::Dyn) {
                    self.problem(
                        body.node.span,
                        format!("an entry must be a map, this is {}", body.ty),
                    );
                }
                Type::Map
            }
        }
    }

    /// The variable a macro introduces; the empty name stands for a mistake and matches nothing.
    fn variable_name(&mut self, expr: &Expr) -> String {
        if let ExprKind::Ident(name) = &expr.kind
            && !name.rooted
        {
            return name.text.clone();
        }
        let text = self.text(expr.span);
        self.problem(
            expr.span,
            format!("expected a plain variable name, found `{text}`"),
        );
        String::new()
    }

    fn enter(&mut self, name: String, ty: Type) -> u32 {
        self.scope.push(Local { name, ty });
        self.slots = self.slots.max(self.scope.len());
        (self.scope.len() - 1) as u32
    }
}

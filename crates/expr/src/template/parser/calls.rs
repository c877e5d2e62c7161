//! Pipelines, operands and calls. A pipeline `a | f x | g` becomes `g(f(x, a))`:
//! the piped value is the last argument, or the first of a function whose
//! subject comes first (see `Style::SubjectFirst`).

use regex::RegexBuilder;

use super::{Base, Expr, Kind, MAX_LINKS, Parser, Pipeline, Pos};
use crate::template::TemplateError;
use crate::template::functions::{self, PATTERN_SIZE, Style};

/// Variables a pipeline sets, each with its position, and whether it declares them.
type Declaration<'s> = (Vec<(&'s str, usize)>, bool);

/// One operand before it is known whether it is called.
enum Operand {
    Function { name: String, at: usize },
    Value { expr: Expr, at: usize },
}

impl<'s> Parser<'s> {
    /// A pipeline up to `end`, which it consumes.
    pub(super) fn pipeline(
        &mut self,
        context: &str,
        end: &Kind<'static>,
    ) -> Result<Pipeline, TemplateError> {
        self.skip_space();
        let at = self.peek().at;
        if context != "parenthesis" {
            self.links = 0;
        }
        let (names, declares) = self.declaration(context)?;
        let mut slots = Vec::new();
        // A declared range variable is visible in the body only; others are set
        // after their value is known. Either way the value cannot refer to them.
        let mut expr = None;
        let mut stage = 0;
        loop {
            self.skip_space();
            let token = self.peek();
            if token.kind == *end {
                self.at += 1;
                break;
            }
            if token.kind == Kind::Close || token.kind == Kind::End {
                return self.error(token.at, format!("the {context} is not finished"));
            }
            stage += 1;
            self.links += 1;
            if self.links > MAX_LINKS {
                return self.error(at, format!("more than {MAX_LINKS} calls inside each other"));
            }
            expr = Some(self.command(stage, expr)?);
        }
        let Some(expr) = expr else {
            return self.error(at, format!("missing value for {context}"));
        };
        for (name, name_at) in names {
            let slot = if declares {
                self.scope.declare(name)
            } else {
                self.variable(name, name_at)?
            };
            let alias = context != "range" && self.scope.is_root(&expr);
            self.scope.set_alias(slot, alias);
            slots.push(slot);
        }
        Ok(Pipeline { at, slots, expr })
    }

    /// `$x :=`, `$x =`, and for `range` `$i, $x :=`.
    fn declaration(&mut self, context: &str) -> Result<Declaration<'s>, TemplateError> {
        let start = self.at;
        let mut names = Vec::new();
        while let Kind::Variable(name) = self.peek().kind {
            names.push((name, self.peek().at));
            self.at += 1;
            self.skip_space();
            match self.peek().kind {
                Kind::Declare | Kind::Assign => {
                    let declares = self.next().kind == Kind::Declare;
                    if context == "parenthesis" || context == "template" || context == "block" {
                        let at = self.peek().at;
                        return self.error(at, "a variable cannot be set here");
                    }
                    let limit = if context == "range" { 2 } else { 1 };
                    if names.len() > limit {
                        return self.error(names[limit].1, "too many variables");
                    }
                    return Ok((names, declares));
                }
                Kind::Comma => {
                    self.at += 1;
                    self.skip_space();
                }
                _ => break,
            }
        }
        self.at = start;
        Ok((Vec::new(), false))
    }

    fn variable(&self, name: &str, at: usize) -> Result<usize, TemplateError> {
        match self.scope.find(name) {
            Some(slot) => Ok(slot),
            None => {
                let hint = crate::template::nearest(name, self.scope.names());
                self.error(at, format!("the variable {name} is not defined{hint}"))
            }
        }
    }

    /// Operands up to `|` or the end of the pipeline.
    fn command(&mut self, stage: usize, piped: Option<Expr>) -> Result<Expr, TemplateError> {
        let at = self.peek().at;
        let mut operands = Vec::new();
        loop {
            self.skip_space();
            if let Some(operand) = self.operand()? {
                operands.push(operand);
            }
            let token = self.peek().clone();
            match token.kind {
                Kind::Space => {}
                Kind::Pipe => {
                    self.at += 1;
                    break;
                }
                Kind::Close | Kind::RightParen => break,
                _ => {
                    let text = &self.source[token.at..];
                    let text: String = text.chars().take(12).collect();
                    return self.error(token.at, format!("unexpected {text:?}"));
                }
            }
        }
        let mut operands = operands.into_iter();
        let Some(first) = operands.next() else {
            return self.error(at, "a value or function is missing here");
        };
        let mut args = Vec::new();
        for operand in operands {
            args.push(self.as_value(operand)?);
        }
        match first {
            Operand::Function { name, at } => self.call(&name, at, args, piped),
            Operand::Value {
                expr: Expr::Nil,
                at,
            } => self.error(at, "nil alone is not a value"),
            Operand::Value { expr, at } => {
                if args.is_empty() && piped.is_none() {
                    return Ok(expr);
                }
                match expr {
                    // A method of a time value, such as `now.Format "2006"`.
                    Expr::Field { pos, base, path, .. } => {
                        args.extend(piped);
                        Ok(Expr::Field { pos, base, path, args: args.into() })
                    }
                    _ if stage > 1 => self.error(
                        at,
                        format!("stage {stage} of the pipeline is no function, so nothing can be piped into it"),
                    ),
                    _ => self.error(at, "only a function can be given arguments"),
                }
            }
        }
    }

    fn as_value(&mut self, operand: Operand) -> Result<Expr, TemplateError> {
        match operand {
            Operand::Value { expr, .. } => Ok(expr),
            Operand::Function { name, at } => self.call(&name, at, Vec::new(), None),
        }
    }

    /// A term and the fields that follow it without a space.
    fn operand(&mut self) -> Result<Option<Operand>, TemplateError> {
        let token = self.peek().clone();
        let at = token.at;
        let value = match token.kind {
            Kind::Word("true") => Expr::Bool(true),
            Kind::Word("false") => Expr::Bool(false),
            Kind::Word("nil") => Expr::Nil,
            Kind::Word(name) => {
                self.at += 1;
                let path = self.path();
                let function = Operand::Function {
                    name: name.to_owned(),
                    at,
                };
                if path.is_empty() {
                    return Ok(Some(function));
                }
                let base = Base::Expr(Box::new(self.as_value(function)?));
                let expr = self.field(at, base, path);
                return Ok(Some(Operand::Value { expr, at }));
            }
            Kind::Dot => Expr::Dot,
            Kind::Variable(name) => Expr::Slot(self.variable(name, at)?),
            Kind::Str(ref text) => Expr::Text(text.as_str().into()),
            Kind::Char(c) => Expr::Int(i64::from(u32::from(c))),
            Kind::Number(text) => self.number(text, at)?,
            Kind::Field(_) => {
                let path = self.path();
                let expr = self.field(at, Base::Dot, path);
                return Ok(Some(Operand::Value { expr, at }));
            }
            Kind::LeftParen => {
                self.at += 1;
                self.enter(at)?;
                let inner = self.pipeline("parenthesis", &Kind::RightParen)?;
                self.nesting -= 1;
                let path = self.path();
                let expr = match path.is_empty() {
                    true => inner.expr,
                    false => self.field(at, Base::Expr(Box::new(inner.expr)), path),
                };
                return Ok(Some(Operand::Value { expr, at }));
            }
            _ => return Ok(None),
        };
        self.at += 1;
        let path = self.path();
        if path.is_empty() {
            return Ok(Some(Operand::Value { expr: value, at }));
        }
        match value {
            Expr::Slot(slot) => {
                let expr = self.field(at, Base::Slot(slot), path);
                Ok(Some(Operand::Value { expr, at }))
            }
            _ => self.error(at, "a field cannot follow this"),
        }
    }

    fn path(&mut self) -> Vec<Box<str>> {
        let mut path = Vec::new();
        while let Kind::Field(name) = self.peek().kind {
            path.push(name.into());
            self.at += 1;
        }
        path
    }

    fn number(&self, text: &str, at: usize) -> Result<Expr, TemplateError> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        let clean = digits.replace('_', "");
        let lower = clean.to_ascii_lowercase();
        let (radix, body) = match lower.get(..2) {
            Some("0x") => (16, &lower[2..]),
            Some("0o") => (8, &lower[2..]),
            Some("0b") => (2, &lower[2..]),
            _ if lower.len() > 1 && lower.starts_with('0') && !lower.contains(['.', 'e']) => {
                (8, &lower[1..])
            }
            _ => (10, lower.as_str()),
        };
        if let Ok(value) = i128::from_str_radix(body, radix) {
            return match i64::try_from(value * sign) {
                Ok(value) => Ok(Expr::Int(value)),
                Err(_) => self.error(at, format!("the number {text} is too large")),
            };
        }
        match lower.parse::<f64>() {
            Ok(value) if radix == 10 && value.is_finite() => Ok(Expr::Float(value * sign as f64)),
            _ => self.error(at, format!("bad number {text}")),
        }
    }

    fn call(
        &mut self,
        name: &str,
        at: usize,
        mut args: Vec<Expr>,
        piped: Option<Expr>,
    ) -> Result<Expr, TemplateError> {
        let is_piped = piped.is_some();
        if name == "and" || name == "or" {
            args.extend(piped);
            if args.is_empty() {
                return self.error(at, format!("{name} needs at least one argument"));
            }
            return Ok(Expr::Logic {
                stop_at: name == "or",
                args: args.into(),
                piped: is_piped,
            });
        }
        if name == "include" {
            args.extend(piped);
            return self.include(at, args);
        }
        let Some(function) = functions::find(name) else {
            return self.error(at, functions::unknown(name));
        };
        match (function.style, piped) {
            (Style::SubjectFirst, Some(piped)) => args.insert(0, piped),
            (_, piped) => args.extend(piped),
        }
        if let Some(message) = function.arity_problem(args.len()) {
            return self.error(at, message);
        }
        if function.style == Style::Pattern
            && let Some(Expr::Text(text)) = args.first()
        {
            match RegexBuilder::new(text).size_limit(PATTERN_SIZE).build() {
                Ok(pattern) => args[0] = Expr::Pattern(Box::new(pattern)),
                Err(e) => return self.error(at, format!("bad pattern {text:?}: {e}")),
            }
        }
        Ok(Expr::Call {
            pos: at as Pos,
            function,
            args: args.into(),
        })
    }

    fn include(&mut self, at: usize, args: Vec<Expr>) -> Result<Expr, TemplateError> {
        let mut args = args.into_iter();
        let (Some(Expr::Text(name)), Some(dot), None) = (args.next(), args.next(), args.next())
        else {
            let usage = "include takes the quoted name of a template and its data";
            return self.error(at, usage);
        };
        let body = self.body_index(&name, at);
        if self.scope.is_root(&dot) {
            self.reads_of_current().handed_to.push(body);
        }
        Ok(Expr::Include {
            pos: at as Pos,
            body,
            dot: Box::new(dot),
        })
    }
}

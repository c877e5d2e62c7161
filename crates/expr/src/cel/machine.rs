//! The evaluator: walks the plan, pays the meter, names what was missing.

mod access;
mod build;
mod comprehension;
mod operators;

pub(crate) use build::insert;
pub(crate) use operators::{binary, compare, unary};

use super::ast::LogicOp;
use super::bindings::Bindings;
use super::clock;
use super::error::{ErrorKind, EvalError, Fault};
use super::function::Call;
use super::lexer::shorten;
use super::meter::Meter;
use super::pattern::Pattern;
use super::plan::{Kind, Node};
use super::program;
use super::span::Span;
use super::value::{Str, Value};

pub(crate) type Outcome<'a> = Result<Value<'a>, Box<EvalError>>;

pub(crate) struct Machine<'a, 'b> {
    program: &'a program::Inner,
    bindings: &'b Bindings<'a>,
    locals: Vec<Value<'a>>,
    meter: Meter<'a>,
}

impl<'a, 'b> Machine<'a, 'b> {
    pub(crate) fn new(program: &'a program::Inner, bindings: &'b Bindings<'a>) -> Self {
        Self {
            program,
            bindings,
            locals: vec![Value::Null; program.locals],
            meter: Meter::new(&program.limits, bindings.now()),
        }
    }

    pub(crate) fn run(mut self) -> Outcome<'a> {
        self.eval(&self.program.root)
    }

    pub(crate) fn run_json(mut self) -> Result<serde_json::Value, Box<EvalError>> {
        let root = &self.program.root;
        let value = self.eval(root)?;
        value
            .to_json_within(&mut self.meter.budget)
            .ok_or_else(|| at(self.meter.exhausted(), root.span))
    }

    /// Depth is bounded by the parser; the rarer kinds live in their own functions to keep this frame small.
    fn eval(&mut self, node: &'a Node) -> Outcome<'a> {
        self.meter.charge(1).map_err(|e| at(e, node.span))?;
        match &node.kind {
            Kind::Constant(value) => Ok(borrow(value)),
            Kind::Variable(index) => self.variable(*index, node.span),
            Kind::TypeName(t) => {
                let variable = self.bindings.get(t.name());
                Ok(variable.cloned().unwrap_or(Value::Type(*t)))
            }
            Kind::Local(slot) => Ok(self.locals[*slot as usize].clone()),
            Kind::Select(operand, field, access) => self.select(node, operand, field, *access),
            Kind::Present(operand, field) => self.present(operand, field, node.span),
            Kind::Index(parts, access) => self.index(node, parts, *access),
            Kind::Builtin(_, args) | Kind::Host(_, args) => self.call(node, args),
            Kind::Undefined(message, kind) => Err(error(*kind, node.span, message.to_string())),
            Kind::Matches(text, pattern) => self.matches(text, pattern, node.span),
            Kind::NowTimestamp => Ok(Value::Timestamp(clock::now_seconds(self.bindings.now()))),
            Kind::Unary(op, operand) => {
                let value = self.eval(operand)?;
                unary(*op, &value)
                    .map_err(|fault| self.fault(fault, node.span, op_name(*op), &[value]))
            }
            Kind::Binary(op, operands) => {
                let left = self.eval(&operands[0])?;
                let right = self.eval(&operands[1])?;
                binary(*op, &left, &right, &mut self.meter)
                    .map_err(|fault| self.fault(fault, node.span, op.symbol(), &[left, right]))
            }
            Kind::Logic(op, operands) => self.logic(*op, operands),
            Kind::Conditional(parts) => match self.eval(&parts[0])? {
                Value::Bool(true) => self.eval(&parts[1]),
                Value::Bool(false) => self.eval(&parts[2]),
                other => Err(self.not_bool(&other, parts[0].span)),
            },
            Kind::List(items) => self.list(items),
            Kind::Map(entries) => self.map(entries),
            Kind::Bind(slot, parts) => {
                let value = self.eval(&parts[0])?;
                self.locals[*slot as usize] = value;
                self.eval(&parts[1])
            }
            Kind::OptionalMap(map) => self.optional_map(map),
            Kind::OptionalOr(parts, alternative) => self.optional_or(node, parts, *alternative),
            Kind::Comprehension(comprehension) => self.comprehension(comprehension, node.span),
        }
    }

    fn variable(&self, index: u32, span: Span) -> Outcome<'a> {
        let name = &self.program.references[index as usize];
        match self.bindings.get(name) {
            Some(value) => Ok(value.clone()),
            None => Err(error(
                ErrorKind::UndeclaredName,
                span,
                format!("the variable `{name}` has no value here"),
            )),
        }
    }

    /// `&&` and `||`: a deciding operand wins over an error, whichever side it is on. Limits are never absorbed.
    fn logic(&mut self, op: LogicOp, operands: &'a [Node]) -> Outcome<'a> {
        let deciding = op == LogicOp::Or;
        let mut failure = None;
        for operand in operands {
            match self.eval(operand) {
                Ok(Value::Bool(b)) if b == deciding => return Ok(Value::Bool(deciding)),
                Ok(Value::Bool(_)) => {}
                Ok(other) => {
                    failure = failure.or_else(|| Some(self.not_bool(&other, operand.span)))
                }
                Err(e) if e.kind == ErrorKind::LimitExceeded => return Err(e),
                Err(e) => failure = failure.or(Some(e)),
            }
        }
        failure.map_or(Ok(Value::Bool(!deciding)), Err)
    }

    /// Arguments of up to three stay on the stack.
    #[inline(never)]
    fn call(&mut self, node: &'a Node, args: &'a [Node]) -> Outcome<'a> {
        match args {
            [] => self.invoke(node, &[]),
            [a] => {
                let args = [self.eval(a)?];
                self.invoke(node, &args)
            }
            [a, b] => {
                let args = [self.eval(a)?, self.eval(b)?];
                self.invoke(node, &args)
            }
            [a, b, c] => {
                let args = [self.eval(a)?, self.eval(b)?, self.eval(c)?];
                self.invoke(node, &args)
            }
            more => {
                let args = more
                    .iter()
                    .map(|arg| self.eval(arg))
                    .collect::<Result<Vec<_>, _>>()?;
                self.invoke(node, &args)
            }
        }
    }

    /// Text arguments are paid for here, whatever the function does with them.
    fn invoke(&mut self, node: &'a Node, args: &[Value<'a>]) -> Outcome<'a> {
        let text: usize = args.iter().map(text_len).sum();
        self.meter.read(text).map_err(|e| at(e, node.span))?;
        match &node.kind {
            Kind::Builtin(builtin, _) => (builtin.run)(&mut self.meter, args)
                .map_err(|fault| self.fault(fault, node.span, builtin.name, args)),
            Kind::Host(function, _) => {
                // The closure cannot pay for itself, so it pays by what it is given.
                let items: usize = args.iter().map(items_len).sum();
                self.meter
                    .charge(items as u64)
                    .map_err(|e| at(e, node.span))?;
                let call = Call {
                    args,
                    bindings: self.bindings,
                };
                (function.body)(&call).map_err(|e| at(Box::new(e), node.span))
            }
            _ => Err(error(
                ErrorKind::UndeclaredName,
                node.span,
                "not a call".to_owned(),
            )),
        }
    }

    #[inline(never)]
    fn matches(&mut self, text: &'a Node, pattern: &'a Pattern, span: Span) -> Outcome<'a> {
        let text = self.eval(text)?;
        let Value::String(s) = &text else {
            return Err(self.fault(Fault::Overload, span, "matches", &[text]));
        };
        let found = pattern.is_match(&mut self.meter, s.as_str());
        found.map(Value::Bool).map_err(|e| at(e, span))
    }

    #[cold]
    fn fault(&self, fault: Fault, span: Span, name: &str, args: &[Value<'_>]) -> Box<EvalError> {
        match fault {
            Fault::Error(e) => at(e, span),
            Fault::Overload => {
                let kinds: Vec<String> = args.iter().map(|a| a.type_of().to_string()).collect();
                let word = name.starts_with(|c: char| c.is_alphabetic());
                let what = match kinds.as_slice() {
                    [] => format!("`{name}` cannot be called without arguments"),
                    [a, b] if !word || name == "in" => {
                        format!("`{name}` is not defined for {a} and {b}")
                    }
                    all => format!("`{name}` is not defined for {}", all.join(", ")),
                };
                error(
                    ErrorKind::NoSuchOverload,
                    span,
                    format!("{what}, in `{}`", self.text(span)),
                )
            }
        }
    }

    #[cold]
    fn not_bool(&self, value: &Value<'_>, span: Span) -> Box<EvalError> {
        let message = format!(
            "expected true or false from `{}`, got {}",
            self.text(span),
            value.type_of()
        );
        error(ErrorKind::NoSuchOverload, span, message)
    }

    fn text(&self, span: Span) -> String {
        shorten(span.text(&self.program.source))
    }
}

/// A constant as a value: literals lend their text instead of counting references.
fn borrow<'a>(value: &'a Value<'static>) -> Value<'a> {
    match value {
        Value::String(s) => Value::String(Str::Borrowed(s.as_str())),
        other => other.clone(),
    }
}

/// Length of a text or byte value, zero for everything else.
pub(crate) fn text_len(value: &Value<'_>) -> usize {
    match value {
        Value::String(s) => s.as_str().len(),
        Value::Bytes(b) => b.len(),
        _ => 0,
    }
}

fn items_len(value: &Value<'_>) -> usize {
    match value {
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        _ => 0,
    }
}

fn op_name(op: super::ast::UnaryOp) -> &'static str {
    match op {
        super::ast::UnaryOp::Not => "!",
        super::ast::UnaryOp::Negate => "-",
    }
}

#[cold]
fn error(kind: ErrorKind, span: Span, message: String) -> Box<EvalError> {
    Box::new(EvalError {
        kind,
        message,
        span: span.range(),
    })
}

/// Fills in the place unless a deeper one is known.
#[cold]
fn at(mut error: Box<EvalError>, span: Span) -> Box<EvalError> {
    if error.span == (0..0) {
        error.span = span.range();
    }
    error
}

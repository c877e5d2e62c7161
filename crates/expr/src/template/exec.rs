//! Walks a compiled template and writes its text.

mod failure;

use super::context::Context;
use super::tree::{Base, Body, Branch, Expr, Node, Pos, Range};
use super::value::{Text, Value};
use super::{RenderErrorKind, times};
pub(super) use failure::{Failure, problem};
use failure::{missing, named, shown};

/// What a list of nodes asks of the loop around it.
#[derive(PartialEq)]
enum Flow {
    Next,
    Break,
    Continue,
}

type Step<T> = Result<T, Failure>;

pub(super) struct Executor<'c, 'a> {
    context: &'c Context<'a>,
    bodies: &'a [Body],
    /// Variables of all active bodies; `base` is where the current one's begin.
    slots: Vec<Value<'a>>,
    base: usize,
    depth: usize,
    /// Nested blocks and calls, which take stack.
    level: usize,
    out: String,
}

/// Deepest nesting of blocks and calls over all active templates: what a thread
/// of 2 MiB bears in a debug build, several times over.
const MAX_LEVEL: usize = 400;

impl<'c, 'a> Executor<'c, 'a> {
    pub(super) fn new(context: &'c Context<'a>, bodies: &'a [Body], capacity: usize) -> Self {
        Executor {
            context,
            bodies,
            slots: Vec::new(),
            base: 0,
            depth: 0,
            level: 0,
            out: String::with_capacity(capacity),
        }
    }

    pub(super) fn run(mut self, dot: Value<'a>) -> Step<String> {
        self.body(0, 0, dot)?;
        Ok(self.out)
    }

    /// The value of a template that is a single `{{ … }}`.
    pub(super) fn value(mut self, expr: &'a Expr, dot: Value<'a>) -> Step<Value<'a>> {
        let slots = self.bodies.first().map_or(1, |body| body.slots);
        self.slots.resize(slots, Value::Nil);
        self.slots[0] = dot.clone();
        self.eval(expr, &dot)
    }

    fn fail<T>(&self, pos: Pos, message: impl Into<String>) -> Step<T> {
        Err(Failure {
            pos,
            kind: RenderErrorKind::Value,
            message: message.into(),
        })
    }

    fn body(&mut self, pos: Pos, index: usize, dot: Value<'a>) -> Step<()> {
        let Some(body) = self.bodies.get(index) else {
            return self.fail(pos, "this template is not defined");
        };
        if self.depth >= self.context.limits.depth {
            return Err(Failure {
                pos,
                kind: RenderErrorKind::Limit,
                message: format!("the template {:?} calls itself too deeply", body.name),
            });
        }
        let (base, len) = (self.base, self.slots.len());
        self.base = len;
        self.slots.resize(len + body.slots, Value::Nil);
        self.slots[len] = dot.clone();
        self.depth += 1;
        self.nodes(&body.nodes, &dot)?;
        self.depth -= 1;
        self.slots.truncate(len);
        self.base = base;
        Ok(())
    }

    fn enter(&mut self, pos: Pos) -> Step<()> {
        self.level += 1;
        if self.level > MAX_LEVEL {
            return Err(Failure {
                pos,
                kind: RenderErrorKind::Limit,
                message: format!("blocks and calls are nested more than {MAX_LEVEL} deep"),
            });
        }
        Ok(())
    }

    fn nodes(&mut self, nodes: &'a [Node], dot: &Value<'a>) -> Step<Flow> {
        self.enter(0)?;
        for node in nodes {
            let flow = self.node(node, dot)?;
            if flow != Flow::Next {
                self.level -= 1;
                return Ok(flow);
            }
        }
        self.level -= 1;
        Ok(Flow::Next)
    }

    fn node(&mut self, node: &'a Node, dot: &Value<'a>) -> Step<Flow> {
        match node {
            Node::Text(text) => {
                self.out.push_str(text);
                self.check(0)?;
            }
            Node::Print(expr) => {
                let value = self.eval(expr, dot)?;
                self.print(&value, expr.pos())?;
            }
            Node::Bind(slot, expr) => {
                let value = self.eval(expr, dot)?;
                self.bind(Some(*slot), value);
            }
            Node::If(branch) => return self.branch(branch, dot, false),
            Node::With(branch) => return self.branch(branch, dot, true),
            Node::Range(range) => return self.range(range, dot),
            Node::Template {
                pos,
                body,
                dot: given,
            } => {
                let given = match given {
                    Some(expr) => self.eval(expr, dot)?,
                    None => Value::Nil,
                };
                self.body(*pos, *body, given)?;
            }
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }

    fn branch(&mut self, branch: &'a Branch, dot: &Value<'a>, rebind: bool) -> Step<Flow> {
        let value = self.eval(&branch.test, dot)?;
        let truth = value.truth();
        if branch.bind.is_some() {
            self.bind(branch.bind, value.clone());
        }
        match (truth, rebind) {
            (true, true) => self.nodes(&branch.body, &value),
            (true, false) => self.nodes(&branch.body, dot),
            (false, _) => self.nodes(&branch.otherwise, dot),
        }
    }

    fn range(&mut self, range: &'a Range, dot: &Value<'a>) -> Step<Flow> {
        let over = self.eval(&range.over, dot)?;
        let mut ran = false;
        let flow = match &over {
            Value::Int(_) | Value::Uint(_) => {
                if range.index.is_some() {
                    return self.fail(range.pos, "a range over a number has one variable only");
                }
                let count = match &over {
                    Value::Int(i) => u64::try_from(*i).unwrap_or(0),
                    Value::Uint(u) => *u,
                    _ => 0,
                };
                // More than any limit allows stops at the limit, not here.
                let items = (0..count).map(|i| (Value::Nil, Value::Int(i as i64)));
                self.iterate(range, items, &mut ran)?
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                let items = items.map(|(i, item)| (Value::Int(i as i64), Value::from(item)));
                self.iterate(range, items, &mut ran)?
            }
            Value::List(items) => {
                let items = items.iter().enumerate();
                let items = items.map(|(i, item)| (Value::Int(i as i64), item.clone()));
                self.iterate(range, items, &mut ran)?
            }
            Value::Nil => Flow::Next,
            map if map.is_map() => {
                let keys = map.keys().unwrap_or_default().into_iter();
                let items = keys.map(|key| {
                    let value = map.get(&key).unwrap_or(Value::Nil);
                    let key = match key {
                        std::borrow::Cow::Borrowed(key) => Value::Text(Text::Borrowed(key)),
                        std::borrow::Cow::Owned(key) => key.into(),
                    };
                    (key, value)
                });
                self.iterate(range, items, &mut ran)?
            }
            other => {
                let what = other.what();
                return self.fail(
                    range.pos,
                    format!("range needs a list, a map or a number, not {what}"),
                );
            }
        };
        if ran {
            return Ok(flow);
        }
        self.nodes(&range.otherwise, dot)
    }

    fn iterate(
        &mut self,
        range: &'a Range,
        items: impl Iterator<Item = (Value<'a>, Value<'a>)>,
        ran: &mut bool,
    ) -> Step<Flow> {
        for (index, item) in items {
            *ran = true;
            self.spend(range.pos)?;
            self.bind(range.index, index);
            if range.item.is_some() {
                self.bind(range.item, item.clone());
            }
            if self.nodes(&range.body, &item)? == Flow::Break {
                break;
            }
        }
        // A `break` or `continue` ends here; only errors travel further.
        Ok(Flow::Next)
    }

    fn bind(&mut self, slot: Option<usize>, value: Value<'a>) {
        if let Some(slot) = slot {
            let index = self.base + slot;
            self.slots[index] = value;
        }
    }

    fn spend(&self, pos: Pos) -> Step<()> {
        self.context.spend(1).map_err(|p| problem(pos, p))
    }

    fn check(&self, pos: Pos) -> Step<()> {
        if self.out.len() > self.context.limits.output {
            let room = self.context.room(self.out.len());
            return room.map_err(|p| problem(pos, p));
        }
        Ok(())
    }

    fn print(&mut self, value: &Value<'a>, pos: Pos) -> Step<()> {
        match value {
            Value::Nil => self.out.push_str("<no value>"),
            Value::Text(text) => self.out.push_str(text.as_str()),
            other => {
                let printed = self.context.print(&mut self.out, other);
                printed.map_err(|p| problem(pos, p))?;
            }
        }
        self.spend(pos)?;
        self.check(pos)
    }

    fn eval(&mut self, expr: &'a Expr, dot: &Value<'a>) -> Step<Value<'a>> {
        self.enter(expr.pos())?;
        let value = match expr {
            Expr::Dot => dot.clone(),
            Expr::Slot(slot) => self.slots[self.base + slot].clone(),
            Expr::Nil => Value::Nil,
            Expr::Bool(b) => Value::Bool(*b),
            Expr::Int(i) => Value::Int(*i),
            Expr::Float(f) => Value::Float(*f),
            Expr::Text(text) => Value::Text(Text::Borrowed(text)),
            Expr::Pattern(pattern) => Value::Pattern(pattern),
            Expr::Field {
                pos,
                base,
                path,
                args,
            } => {
                let value = match base {
                    Base::Dot => dot.clone(),
                    Base::Slot(slot) => self.slots[self.base + slot].clone(),
                    Base::Expr(expr) => self.eval(expr, dot)?,
                };
                let args = self.args(args, dot)?;
                self.walk(*pos, base, value, path, &args)?
            }
            Expr::Call {
                pos,
                function,
                args,
            } => {
                self.spend(*pos)?;
                let result = match &**args {
                    // The common small calls need no heap.
                    [one] => {
                        let args = [self.eval(one, dot)?];
                        (function.run)(self.context, &args)
                    }
                    [one, two] => {
                        let args = [self.eval(one, dot)?, self.eval(two, dot)?];
                        (function.run)(self.context, &args)
                    }
                    more => {
                        let args = self.args(more, dot)?;
                        (function.run)(self.context, &args)
                    }
                };
                result.map_err(|p| named(*pos, function.name, p))?
            }
            Expr::Logic {
                stop_at,
                args,
                piped,
            } => self.logic(*stop_at, args, *piped, dot)?,
            Expr::Include {
                pos,
                body,
                dot: given,
            } => {
                let given = self.eval(given, dot)?;
                let outer = std::mem::take(&mut self.out);
                self.body(*pos, *body, given)?;
                let text = std::mem::replace(&mut self.out, outer);
                self.context.text(text).map_err(|p| problem(*pos, p))?
            }
        };
        self.level -= 1;
        Ok(value)
    }

    fn args(&mut self, args: &'a [Expr], dot: &Value<'a>) -> Step<Vec<Value<'a>>> {
        args.iter().map(|arg| self.eval(arg, dot)).collect()
    }

    fn logic(
        &mut self,
        stop_at: bool,
        args: &'a [Expr],
        piped: bool,
        dot: &Value<'a>,
    ) -> Step<Value<'a>> {
        let (first, last) = match args.split_last() {
            Some((last, first)) if piped => (first, Some(self.eval(last, dot)?)),
            _ => (args, None),
        };
        let mut value = Value::Nil;
        for arg in first {
            value = self.eval(arg, dot)?;
            if value.truth() == stop_at {
                return Ok(value);
            }
        }
        Ok(last.unwrap_or(value))
    }

    /// Follows `.a.b`; a missing key is an error that names the path so far.
    fn walk(
        &self,
        pos: Pos,
        base: &Base,
        mut value: Value<'a>,
        path: &'a [Box<str>],
        args: &[Value<'a>],
    ) -> Step<Value<'a>> {
        for (i, key) in path.iter().enumerate() {
            let last = i + 1 == path.len();
            if let Value::Time(time) = &value {
                let args = if last { args } else { &[] };
                let result = times::method(self.context, time, key, args);
                value = result.map_err(|p| problem(pos, p))?;
                continue;
            }
            match value.get(key) {
                Some(found) => value = found,
                None => return Err(missing(pos, base, path, i, &value)),
            }
            if last && !args.is_empty() {
                let name = shown(base, path);
                return self.fail(
                    pos,
                    format!("{name} is no function, so it takes no arguments"),
                );
            }
        }
        Ok(value)
    }
}

impl Expr {
    /// Where to point when printing the value fails.
    pub(super) fn pos(&self) -> Pos {
        match self {
            Expr::Field { pos, .. } | Expr::Call { pos, .. } | Expr::Include { pos, .. } => *pos,
            _ => 0,
        }
    }
}

//! Tokens to a compiled template. Everything that can be known without data is
//! checked here: structure, variables, functions, argument counts, named
//! templates, literal patterns.

mod calls;
mod scope;

use std::collections::HashMap;

use super::lexer::{Kind, Token, tokenize};
use super::tree::{Base, Body, Branch, Expr, Node, Pos, Range};
use super::{Root, TemplateError};
use scope::Scope;

/// Nested control structures and parentheses; the parser recurses on them.
const MAX_NESTING: usize = 100;
/// Pipeline stages and parentheses of one action: each is a call inside another.
const MAX_LINKS: usize = 200;

/// The template itself is body 0, each `define` or `block` one more.
#[derive(Debug)]
pub(super) struct Parsed {
    pub bodies: Vec<Body>,
    pub roots: Vec<Root>,
}

pub(super) fn parse(name: &str, source: &str) -> Result<Parsed, TemplateError> {
    let mut parser = Parser {
        name,
        source,
        tokens: tokenize(name, source)?,
        at: 0,
        nesting: 0,
        links: 0,
        scope: Scope::default(),
        bodies: vec![None],
        names: HashMap::new(),
        reads: vec![Reads::default()],
    };
    let (nodes, stop) = parser.list(Inside::Top)?;
    if let Some(unexpected) = stop.unexpected() {
        return parser.error(stop.at(), format!("unexpected {{{{{unexpected}}}}}"));
    }
    parser.finish(0, name, nodes);
    parser.done()
}

struct Parser<'s> {
    name: &'s str,
    source: &'s str,
    tokens: Vec<Token<'s>>,
    at: usize,
    nesting: usize,
    links: usize,
    scope: Scope<'s>,
    bodies: Vec<Option<Body>>,
    /// Named templates and where each was first mentioned.
    names: HashMap<String, (usize, usize)>,
    reads: Vec<Reads>,
}

/// What a body reads from its own dot, and to whom it hands that dot on.
#[derive(Default)]
struct Reads {
    roots: Vec<(String, usize)>,
    handed_to: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Top,
    Block,
    Loop,
}

/// What ended a list of nodes.
enum Stop {
    Eof(usize),
    End(usize),
    Else(usize),
}

impl Stop {
    fn at(&self) -> usize {
        match self {
            Stop::Eof(at) | Stop::End(at) | Stop::Else(at) => *at,
        }
    }

    fn unexpected(&self) -> Option<&'static str> {
        match self {
            Stop::Eof(_) => None,
            Stop::End(_) => Some("end"),
            Stop::Else(_) => Some("else"),
        }
    }
}

/// A pipeline and the variables it declares or assigns.
struct Pipeline {
    at: usize,
    slots: Vec<usize>,
    expr: Expr,
}

impl<'s> Parser<'s> {
    fn error<T>(&self, at: usize, message: impl Into<String>) -> Result<T, TemplateError> {
        Err(TemplateError::at(self.name, self.source, at, message))
    }

    fn peek(&self) -> &Token<'s> {
        // The last token is `End`, and nothing advances past it.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token<'s> {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn skip_space(&mut self) {
        while self.peek().kind == Kind::Space {
            self.at += 1;
        }
    }

    fn is_word(&self, word: &str) -> bool {
        self.peek().kind == Kind::Word(word)
    }

    fn close(&mut self, what: &str) -> Result<(), TemplateError> {
        self.skip_space();
        let token = self.next();
        match token.kind {
            Kind::Close => Ok(()),
            _ => self.error(token.at, format!("expected }}}} after {what}")),
        }
    }

    fn enter(&mut self, at: usize) -> Result<(), TemplateError> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return self.error(at, format!("nested more than {MAX_NESTING} deep"));
        }
        Ok(())
    }

    /// Nodes up to `{{end}}`, `{{else}}` or the end of the text.
    fn list(&mut self, inside: Inside) -> Result<(Vec<Node>, Stop), TemplateError> {
        let mut nodes = Vec::new();
        loop {
            let token = self.next();
            match token.kind {
                Kind::End => return Ok((nodes, Stop::Eof(token.at))),
                Kind::Text(text) => nodes.push(Node::Text(text.into())),
                _ => {
                    // Only `{{` can follow text.
                    self.skip_space();
                    let word = match self.peek().kind {
                        Kind::Word(word) => word,
                        _ => "",
                    };
                    match word {
                        "end" => {
                            self.at += 1;
                            self.close("end")?;
                            return Ok((nodes, Stop::End(token.at)));
                        }
                        "else" => {
                            self.at += 1;
                            return Ok((nodes, Stop::Else(token.at)));
                        }
                        _ => self.action(word, token.at, inside, &mut nodes)?,
                    }
                }
            }
        }
    }

    fn action(
        &mut self,
        word: &str,
        at: usize,
        inside: Inside,
        nodes: &mut Vec<Node>,
    ) -> Result<(), TemplateError> {
        match word {
            "if" | "with" | "range" => {
                self.at += 1;
                nodes.push(self.control(word, at, inside)?);
            }
            "break" | "continue" => {
                self.at += 1;
                if inside != Inside::Loop {
                    return self.error(at, format!("{{{{{word}}}}} outside {{{{range}}}}"));
                }
                self.close(word)?;
                nodes.push(if word == "break" {
                    Node::Break
                } else {
                    Node::Continue
                });
            }
            "define" => {
                self.at += 1;
                if inside != Inside::Top {
                    return self.error(at, "{{define}} must stand outside other blocks");
                }
                let body = self.definition(at)?;
                self.close("the name of the template")?;
                self.body(body, at)?;
            }
            "template" | "block" => {
                self.at += 1;
                let body = self.definition_or_call(word, at)?;
                self.skip_space();
                let dot = if self.peek().kind == Kind::Close {
                    self.at += 1;
                    None
                } else {
                    Some(self.pipeline(word, &Kind::Close)?.expr)
                };
                if dot.as_ref().is_some_and(|dot| self.scope.is_root(dot)) {
                    self.reads_of_current().handed_to.push(body);
                }
                if word == "block" {
                    self.body(body, at)?;
                }
                let pos = at as Pos;
                nodes.push(Node::Template { pos, body, dot });
            }
            _ => {
                let pipeline = self.pipeline("command", &Kind::Close)?;
                nodes.push(match pipeline.slots.as_slice() {
                    [] => Node::Print(pipeline.expr),
                    [slot] => Node::Bind(*slot, pipeline.expr),
                    _ => return self.error(pipeline.at, "two variables need {{range}}"),
                });
            }
        }
        Ok(())
    }

    fn definition_or_call(&mut self, word: &str, at: usize) -> Result<usize, TemplateError> {
        if word == "block" {
            self.definition(at)
        } else {
            let name = self.template_name(at)?;
            Ok(self.body_index(&name, at))
        }
    }

    fn template_name(&mut self, at: usize) -> Result<String, TemplateError> {
        self.skip_space();
        match self.next().kind {
            Kind::Str(name) => Ok(name),
            _ => self.error(at, "expected the name of a template in quotes"),
        }
    }

    fn definition(&mut self, at: usize) -> Result<usize, TemplateError> {
        let name = self.template_name(at)?;
        let index = self.body_index(&name, at);
        if self.bodies[index].is_some() {
            return self.error(at, format!("the template {name:?} is defined twice"));
        }
        Ok(index)
    }

    fn body_index(&mut self, name: &str, at: usize) -> usize {
        if let Some((index, _)) = self.names.get(name) {
            return *index;
        }
        let index = self.bodies.len();
        self.bodies.push(None);
        self.reads.push(Reads::default());
        self.names.insert(name.to_owned(), (index, at));
        index
    }

    /// The nodes of a `define` or `block`, with variables of their own.
    fn body(&mut self, index: usize, at: usize) -> Result<(), TemplateError> {
        self.enter(at)?;
        let outer = std::mem::replace(&mut self.scope, Scope::for_body(index));
        let (nodes, stop) = self.list(Inside::Block)?;
        match stop {
            Stop::End(_) => {}
            Stop::Else(at) => return self.error(at, "unexpected {{else}}"),
            Stop::Eof(_) => return self.error(at, "this block has no {{end}}"),
        }
        let name = self.names.iter().find(|(_, (i, _))| *i == index);
        let name = name.map(|(name, _)| name.clone()).unwrap_or_default();
        self.finish(index, &name, nodes);
        self.scope = outer;
        self.nesting -= 1;
        Ok(())
    }

    fn finish(&mut self, index: usize, name: &str, nodes: Vec<Node>) {
        self.bodies[index] = Some(Body {
            name: name.into(),
            nodes,
            slots: self.scope.slots(),
        });
    }

    fn reads_of_current(&mut self) -> &mut Reads {
        let body = self.scope.body();
        &mut self.reads[body]
    }

    /// `if`, `with` and `range`, after their keyword.
    fn control(&mut self, word: &str, at: usize, inside: Inside) -> Result<Node, TemplateError> {
        self.enter(at)?;
        let mark = self.scope.mark();
        let pipeline = self.pipeline(word, &Kind::Close)?;
        let rebinds = word != "if";
        let dot_was_root = self.scope.dot_is_root;
        if rebinds {
            self.scope.dot_is_root = word == "with" && self.scope.is_root(&pipeline.expr);
        }
        let inner = match (word, inside) {
            ("range", _) | (_, Inside::Loop) => Inside::Loop,
            _ => Inside::Block,
        };
        let (body, mut stop) = self.list(inner)?;
        self.scope.dot_is_root = dot_was_root;
        // `break` in the else of a range would leave an outer one, if there is one.
        let inner = if inside == Inside::Loop {
            Inside::Loop
        } else {
            Inside::Block
        };
        let mut otherwise = Vec::new();
        if let Stop::Else(else_at) = stop {
            let spaced = self.peek().kind == Kind::Space;
            self.skip_space();
            if spaced && word != "range" && self.is_word(word) {
                self.at += 1;
                otherwise.push(self.control(word, else_at, inner)?);
                stop = Stop::End(else_at);
            } else {
                self.close("else")?;
                (otherwise, stop) = self.list(inner)?;
            }
        }
        match stop {
            Stop::End(_) => {}
            Stop::Else(at) => return self.error(at, "a second {{else}}: expected {{end}}"),
            Stop::Eof(_) => {
                return self.error(at, format!("this {{{{{word}}}}} has no {{{{end}}}}"));
            }
        }
        self.scope.release(mark);
        self.nesting -= 1;
        if word == "range" {
            let (index, item) = match pipeline.slots.as_slice() {
                [] => (None, None),
                [item] => (None, Some(*item)),
                [index, item, ..] => (Some(*index), Some(*item)),
            };
            return Ok(Node::Range(Range {
                pos: at as Pos,
                index,
                item,
                over: pipeline.expr,
                body,
                otherwise,
            }));
        }
        if pipeline.slots.len() > 1 {
            return self.error(pipeline.at, "two variables need {{range}}");
        }
        let branch = Branch {
            bind: pipeline.slots.first().copied(),
            test: pipeline.expr,
            body,
            otherwise,
        };
        Ok(if word == "if" {
            Node::If(branch)
        } else {
            Node::With(branch)
        })
    }

    fn done(self) -> Result<Parsed, TemplateError> {
        let missing = self
            .names
            .iter()
            .filter(|(_, (index, _))| self.bodies[*index].is_none())
            .min_by_key(|(_, (_, at))| *at);
        if let Some((name, (_, at))) = missing {
            let known = self
                .names
                .iter()
                .filter(|(_, (i, _))| self.bodies[*i].is_some());
            let hint = crate::template::nearest(name, known.map(|(name, _)| name.as_str()));
            return self.error(*at, format!("the template {name:?} is not defined{hint}"));
        }
        let roots = self.roots();
        Ok(Parsed {
            bodies: self.bodies.into_iter().flatten().collect(),
            roots,
        })
    }

    /// The data a rendering reads: what body 0 reads from its dot, and what the
    /// bodies it hands that dot to read from theirs.
    fn roots(&self) -> Vec<Root> {
        let mut seen = vec![false; self.reads.len()];
        let mut todo = vec![0];
        let mut roots: Vec<Root> = Vec::new();
        while let Some(body) = todo.pop() {
            if std::mem::replace(&mut seen[body], true) {
                continue;
            }
            for (name, at) in &self.reads[body].roots {
                let (line, column) = super::line_column(self.source, *at);
                roots.push(Root {
                    name: name.clone(),
                    line,
                    column,
                });
            }
            todo.extend(&self.reads[body].handed_to);
        }
        roots.sort_by(|a, b| (&a.name, a.line, a.column).cmp(&(&b.name, b.line, b.column)));
        roots.dedup_by(|a, b| a.name == b.name);
        roots
    }

    /// `.a.b` and the like, noted as a read of the template's data where it is one.
    fn field(&mut self, at: usize, base: Base, path: Vec<Box<str>>) -> Expr {
        let from_root = match &base {
            Base::Dot => self.scope.dot_is_root,
            Base::Slot(slot) => self.scope.slot_is_root(*slot),
            Base::Expr(_) => false,
        };
        if from_root && let Some(first) = path.first() {
            let name = first.to_string();
            self.reads_of_current().roots.push((name, at));
        }
        Expr::Field {
            pos: at as Pos,
            base,
            path: path.into(),
            args: Box::default(),
        }
    }
}

//! Text to steps.

use serde_json::Value as Json;

use super::filter::{Filter, Operand, Operator};
use super::{Choice, PathError, Step};

/// Nested filters and parentheses.
const MAX_NESTING: usize = 20;

pub(super) fn parse(text: &str) -> Result<Vec<Step>, PathError> {
    let mut parser = Parser {
        text,
        at: 0,
        end: text.len(),
        nesting: 0,
    };
    parser.skip_space();
    parser.end = text.trim_end().len();
    if parser.rest().starts_with('{') {
        if !text.trim_end().ends_with('}') {
            return parser.error("a { without its }");
        }
        parser.at += 1;
        parser.end -= 1;
    }
    parser.eat("$");
    let steps = parser.steps(true)?;
    if parser.at < parser.end {
        return parser.error(&format!("unexpected {:?}", parser.peek().unwrap_or(' ')));
    }
    if steps.is_empty() {
        // `{.}`, `{$}` and `.` are the value itself; an empty text is a mistake.
        return match text.trim().trim_matches(['{', '}']) {
            "" => parser.error("the path is empty"),
            _ => Ok(steps),
        };
    }
    Ok(steps)
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    end: usize,
    nesting: usize,
}

impl<'t> Parser<'t> {
    fn error<T>(&self, message: &str) -> Result<T, PathError> {
        Err(PathError {
            path: self.text.to_owned(),
            message: message.to_owned(),
            offset: self.at,
        })
    }

    fn rest(&self) -> &'t str {
        // A closing brace cut off may lie before `at` in `{`.
        self.text.get(self.at..self.end).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), PathError> {
        self.skip_space();
        match self.eat(token) {
            true => Ok(()),
            false => self.error(&format!("expected {token:?}")),
        }
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Steps to the end, or in a filter to what cannot continue a path.
    fn steps(&mut self, top: bool) -> Result<Vec<Step>, PathError> {
        let mut steps = Vec::new();
        // `a.b` and `{a.b}` are short for `.a.b`.
        if top && self.peek().is_some_and(|c| !".[".contains(c)) {
            steps.push(self.name()?);
        }
        loop {
            match self.peek() {
                Some('.') => {
                    self.at += 1;
                    if self.eat(".") {
                        steps.push(Step::Descend);
                        if self.peek() == Some('[') {
                            continue;
                        }
                    } else if steps.is_empty()
                        && (self.rest().is_empty() || self.peek() == Some('['))
                    {
                        continue;
                    }
                    steps.push(self.name()?);
                }
                Some('[') => {
                    self.at += 1;
                    steps.push(self.bracket()?);
                }
                _ => return Ok(steps),
            }
        }
    }

    /// A name; a backslash takes the next character as it is.
    fn name(&mut self) -> Result<Step, PathError> {
        if self.eat("*") {
            return Ok(Step::Wildcard);
        }
        let mut name = String::new();
        while let Some(c) = self.peek() {
            match c {
                '\\' => {
                    self.at += 1;
                    let Some(c) = self.peek() else {
                        return self.error("nothing follows the backslash");
                    };
                    name.push(c);
                    self.at += c.len_utf8();
                }
                '.' | '[' | ']' | '(' | ')' | '=' | '!' | '<' | '>' | '&' | '|' | ',' | '\''
                | '"' | '{' | '}' | '?' => break,
                c if c.is_whitespace() => break,
                c => {
                    name.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        match name.is_empty() {
            true => self.error("a name is missing"),
            false => Ok(Step::Key(name)),
        }
    }

    /// After `[`.
    fn bracket(&mut self) -> Result<Step, PathError> {
        self.skip_space();
        if self.eat("*") {
            self.expect("]")?;
            return Ok(Step::Wildcard);
        }
        if self.eat("?") {
            self.expect("(")?;
            let filter = self.filter()?;
            self.expect(")")?;
            self.expect("]")?;
            return Ok(Step::Filter(filter));
        }
        if matches!(self.peek(), Some('\'' | '"')) {
            return self.union();
        }
        let start = self.integer()?;
        self.skip_space();
        if self.peek() != Some(':') {
            let Some(first) = start else {
                return self.error("expected an index, a name in quotes, * or ?(…)");
            };
            return self.union_from(Choice::Index(first));
        }
        self.at += 1;
        let end = self.integer()?;
        self.skip_space();
        let mut step = 1;
        if self.eat(":") {
            match self.integer()? {
                Some(given) if given < 1 => {
                    return self.error("the step of a slice must be positive");
                }
                given => step = given.unwrap_or(1),
            }
        }
        self.expect("]")?;
        Ok(Step::Slice { start, end, step })
    }

    fn union(&mut self) -> Result<Step, PathError> {
        let first = self.choice()?;
        self.union_from(first)
    }

    fn union_from(&mut self, first: Choice) -> Result<Step, PathError> {
        let mut choices = vec![first];
        loop {
            self.skip_space();
            if self.eat("]") {
                break;
            }
            if !self.eat(",") {
                return self.error("expected , or ]");
            }
            choices.push(self.choice()?);
        }
        Ok(match choices.as_slice() {
            [Choice::Key(key)] => Step::Key(key.clone()),
            _ => Step::Union(choices),
        })
    }

    fn choice(&mut self) -> Result<Choice, PathError> {
        self.skip_space();
        if matches!(self.peek(), Some('\'' | '"')) {
            return Ok(Choice::Key(self.quoted()?));
        }
        match self.integer()? {
            Some(index) => Ok(Choice::Index(index)),
            None => self.error("expected an index or a name in quotes"),
        }
    }

    fn quoted(&mut self) -> Result<String, PathError> {
        let Some(quote) = self.peek() else {
            return self.error("expected a text in quotes");
        };
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(c) = self.peek() else {
                self.at = start;
                return self.error("this text has no closing quote");
            };
            self.at += c.len_utf8();
            match c {
                c if c == quote => return Ok(text),
                '\\' => match self.peek() {
                    Some(c) => {
                        self.at += c.len_utf8();
                        text.push(match c {
                            'n' => '\n',
                            't' => '\t',
                            c => c,
                        });
                    }
                    None => return self.error("nothing follows the backslash"),
                },
                c => text.push(c),
            }
        }
    }

    fn integer(&mut self) -> Result<Option<i64>, PathError> {
        self.skip_space();
        let rest = self.rest();
        let sign = usize::from(rest.starts_with('-'));
        let digits = rest[sign..].bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return match sign {
                0 => Ok(None),
                _ => self.error("expected a number"),
            };
        }
        match rest[..sign + digits].parse() {
            Ok(value) => {
                self.at += sign + digits;
                Ok(Some(value))
            }
            Err(_) => self.error("this number is too large"),
        }
    }

    fn filter(&mut self) -> Result<Filter, PathError> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return self.error("filters are nested too deeply");
        }
        let mut alternatives = vec![self.conjunction()?];
        loop {
            self.skip_space();
            if !self.eat("||") {
                break;
            }
            alternatives.push(self.conjunction()?);
        }
        self.nesting -= 1;
        Ok(match alternatives.len() {
            1 => alternatives.remove(0),
            _ => Filter::Or(alternatives),
        })
    }

    fn conjunction(&mut self) -> Result<Filter, PathError> {
        let mut parts = vec![self.condition()?];
        loop {
            self.skip_space();
            if !self.eat("&&") {
                break;
            }
            parts.push(self.condition()?);
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => Filter::And(parts),
        })
    }

    fn condition(&mut self) -> Result<Filter, PathError> {
        self.skip_space();
        if self.rest().starts_with('!') && !self.rest().starts_with("!=") {
            self.at += 1;
            self.nesting += 1;
            if self.nesting > MAX_NESTING {
                return self.error("filters are nested too deeply");
            }
            let inner = self.condition()?;
            self.nesting -= 1;
            return Ok(Filter::Not(Box::new(inner)));
        }
        if self.eat("(") {
            let filter = self.filter()?;
            self.expect(")")?;
            return Ok(filter);
        }
        let left = self.operand()?;
        self.skip_space();
        let operators = [
            ("==", Operator::Equal),
            ("!=", Operator::NotEqual),
            ("<=", Operator::LessOrEqual),
            (">=", Operator::GreaterOrEqual),
            ("<", Operator::Less),
            (">", Operator::Greater),
            ("=", Operator::Equal),
        ];
        for (token, operator) in operators {
            if self.eat(token) {
                let right = self.operand()?;
                return Ok(Filter::Compare(left, operator, right));
            }
        }
        match left {
            Operand::Item(_) => Ok(Filter::Exists(left)),
            Operand::Literal(_) => self.error("expected a comparison such as =="),
        }
    }

    fn operand(&mut self) -> Result<Operand, PathError> {
        self.skip_space();
        if self.eat("@") {
            return Ok(Operand::Item(self.steps(false)?));
        }
        if matches!(self.peek(), Some('\'' | '"')) {
            return Ok(Operand::Literal(Json::String(self.quoted()?)));
        }
        for (word, value) in [
            ("true", Json::Bool(true)),
            ("false", Json::Bool(false)),
            ("null", Json::Null),
            ("nil", Json::Null),
        ] {
            if self.eat(word) {
                return Ok(Operand::Literal(value));
            }
        }
        let rest = self.rest();
        let end = rest
            .find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c)))
            .unwrap_or(rest.len());
        match serde_json::from_str::<Json>(&rest[..end]) {
            Ok(number @ Json::Number(_)) => {
                self.at += end;
                Ok(Operand::Literal(number))
            }
            _ => self.error("expected @…, a text in quotes or a number"),
        }
    }
}

//! Reading paths and templates.

use serde_json::Value;

use super::{Filter, Operand, Operator, Part, Path, Step};

/// What is left to read.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn take(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn expect(&mut self, text: &str) -> Result<(), String> {
        self.blanks();
        match self.take(text) {
            true => Ok(()),
            false => Err(format!("`{text}` is missing before `{}`", self.rest)),
        }
    }

    /// A name after a dot; a backslash takes the next character as it is.
    fn name(&mut self) -> Result<String, String> {
        let mut name = String::new();
        let mut chars = self.rest.char_indices();
        let end = loop {
            match chars.next() {
                None => break self.rest.len(),
                Some((_, '\\')) => name.extend(chars.next().map(|(_, c)| c)),
                Some((at, c)) if " .[]{}()=!<>,'\"".contains(c) => break at,
                Some((_, c)) => name.push(c),
            }
        };
        if name.is_empty() {
            return Err(format!("a name is missing before `{}`", self.rest));
        }
        self.rest = &self.rest[end..];
        Ok(name)
    }

    /// A text in quotes.
    fn quoted(&mut self) -> Result<Option<String>, String> {
        let Some(quote) = self.rest.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
            return Ok(None);
        };
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                c if c == quote => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(Some(text));
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, other)) => text.push(other),
                    None => break,
                },
                c => text.push(c),
            }
        }
        Err(format!(
            "the text that begins at `{}` does not end",
            self.rest
        ))
    }

    fn number(&mut self) -> Option<i64> {
        let digits = self
            .rest
            .char_indices()
            .take_while(|(at, c)| c.is_ascii_digit() || (*at == 0 && *c == '-'))
            .count();
        let number = self.rest[..digits].parse().ok()?;
        self.rest = &self.rest[digits..];
        Some(number)
    }

    fn steps(&mut self) -> Result<Vec<Step>, String> {
        let mut steps = Vec::new();
        loop {
            if self.take("..") {
                steps.push(Step::Descend);
                if self.take("*") {
                    steps.push(Step::All);
                } else if !self.rest.starts_with('[') {
                    steps.push(Step::Field(self.name()?));
                }
            } else if self.take(".") {
                match self.rest.chars().next() {
                    // `.` alone is the document, and `.[` an index.
                    None | Some('[' | ' ' | ')' | '=' | '!' | '<' | '>') => {}
                    Some('*') => {
                        self.take("*");
                        steps.push(Step::All);
                    }
                    Some(_) => steps.push(Step::Field(self.name()?)),
                }
            } else if self.take("[") {
                steps.push(self.bracket()?);
            } else {
                return Ok(steps);
            }
        }
    }

    fn bracket(&mut self) -> Result<Step, String> {
        self.blanks();
        if self.take("*") {
            self.expect("]")?;
            return Ok(Step::All);
        }
        if self.take("?(") {
            let filter = self.filter()?;
            self.expect("]")?;
            return Ok(Step::Filter(Box::new(filter)));
        }
        if let Some(name) = self.quoted()? {
            self.expect("]")?;
            return Ok(Step::Field(name));
        }
        let from = self.number();
        if self.take(":") {
            let to = self.number();
            self.expect("]")?;
            return Ok(Step::Slice(from, to));
        }
        self.expect("]")?;
        from.map(Step::Index)
            .ok_or_else(|| "an index is missing between `[` and `]`".to_owned())
    }

    fn filter(&mut self) -> Result<Filter, String> {
        let left = self.operand()?;
        self.blanks();
        let operators = [
            ("==", Operator::Equal),
            ("!=", Operator::NotEqual),
            ("<=", Operator::LessOrEqual),
            (">=", Operator::GreaterOrEqual),
            ("<", Operator::Less),
            (">", Operator::Greater),
        ];
        let operator = operators.into_iter().find(|(text, _)| self.take(text));
        let right = match operator {
            Some((_, operator)) => Some((operator, self.operand()?)),
            None => None,
        };
        self.expect(")")?;
        Ok(Filter { left, right })
    }

    fn operand(&mut self) -> Result<Operand, String> {
        self.blanks();
        if let Some(text) = self.quoted()? {
            return Ok(Operand::Literal(Value::String(text)));
        }
        if self.take("@") || self.take("$") || self.rest.starts_with('.') {
            return self.steps().map(Path).map(Operand::Path);
        }
        let end = self.rest.find([' ', ')', '=', '!', '<', '>']);
        let word = &self.rest[..end.unwrap_or(self.rest.len())];
        let literal = serde_json::from_str(word).map_err(|_| {
            format!("`{word}` is no value: write texts in quotes, and paths with @")
        })?;
        self.rest = &self.rest[word.len()..];
        Ok(Operand::Literal(literal))
    }
}

pub(super) fn path(text: &str) -> Result<Path, String> {
    let text = text.trim();
    let bare = text.trim_start_matches(['$', '@']);
    // Without its first dot a name is a name all the same.
    let dotted = match bare.starts_with(['.', '[']) || bare.is_empty() {
        true => bare.to_owned(),
        false => format!(".{bare}"),
    };
    let mut reader = Reader { rest: &dotted };
    let steps = reader.steps()?;
    match reader.rest {
        "" => Ok(Path(steps)),
        rest => Err(format!("in `{text}`, `{rest}` cannot be understood")),
    }
}

pub(super) fn template(text: &str) -> Result<Vec<Part>, String> {
    // The template itself, then the ranges that are open.
    let mut open: Vec<(Option<Path>, Vec<Part>)> = vec![(None, Vec::new())];
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        push(&mut open, Part::Text(rest[..start].to_owned()));
        let end = closing(&rest[start..])
            .ok_or_else(|| format!("the brace that begins `{}` does not end", &rest[start..]))?;
        let inner = rest[start + 1..start + end].trim();
        rest = &rest[start + end + 1..];
        if let Some(over) = inner.strip_prefix("range ") {
            open.push((Some(path(over)?), Vec::new()));
        } else if inner == "end" {
            let closed = open.pop();
            match closed {
                Some((Some(over), parts)) => push(&mut open, Part::Range(over, parts)),
                _ => return Err("{end} without {range}".to_owned()),
            }
        } else {
            let mut reader = Reader { rest: inner };
            let part = match reader.quoted()? {
                Some(literal) => Part::Text(literal),
                None => Part::Path(path(inner)?),
            };
            push(&mut open, part);
        }
    }
    push(&mut open, Part::Text(rest.to_owned()));
    match (open.pop(), open.is_empty()) {
        (Some((None, parts)), true) => Ok(parts),
        _ => Err("{range} without {end}".to_owned()),
    }
}

fn push(open: &mut [(Option<Path>, Vec<Part>)], part: Part) {
    if part != Part::Text(String::new())
        && let Some((_, parts)) = open.last_mut()
    {
        parts.push(part);
    }
}

/// Where the brace at the beginning is closed; braces in quotes do not count.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match (quote, c) {
            _ if escaped => escaped = false,
            (_, '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '}') => return Some(at),
            (None, _) => {}
        }
    }
    None
}

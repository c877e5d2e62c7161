//! Tokens to a tree.
//!
//! ```text
//!   or      = and { OR and }
//!   and     = not { AND not }
//!   not     = NOT not | "(" or ")" | test
//!   test    = operand compare operand
//!           | name [NOT] IN list | name [NOT] LIKE text | name [NOT] BETWEEN literal AND literal | name IS [NOT] NULL
//!   list    = "[" [ literal { "," literal } [ "," ] ] "]", or the same in parentheses
//! ```

use super::Search;
use super::error::SearchError;
use super::expr::{Check, Comparison, Expr, LetterCase, Test};
use super::field::Field;
use super::lexer::{Token, Word, tokenize, unsupported};
use super::typing::{self, Value, Written};

/// Parentheses and NOTs inside each other: what walks the tree does so on its stack.
const MAX_NESTING: usize = 50;

pub(super) fn parse(text: &str) -> Result<Expr, SearchError> {
    if text.len() > Search::MAX_LENGTH {
        let message = format!(
            "search query is too long: {} bytes of at most {}",
            text.len(),
            Search::MAX_LENGTH
        );
        return Err(SearchError::new(Search::MAX_LENGTH, message));
    }
    let mut parser = Parser {
        tokens: tokenize(text)?,
        at: 0,
        nesting: 0,
    };
    let expr = parser.or()?;
    match parser.peek() {
        Token::End => Ok(expr),
        _ => Err(parser.expected("AND, OR or the end")),
    }
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
    nesting: usize,
}

enum Operand {
    Field(Field),
    Literal(Written),
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens
            .get(self.at)
            .map_or(&Token::End, |token| &token.0)
    }

    fn position(&self) -> usize {
        let last = self.tokens.last();
        self.tokens.get(self.at).or(last).map_or(0, |token| token.1)
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn eat(&mut self, token: &Token) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn eat_word(&mut self, word: Word) -> bool {
        self.eat(&Token::Word(word))
    }

    fn expected(&self, what: &str) -> SearchError {
        if self.peek() == &Token::Symbol('-') {
            return unsupported(self.position(), "-");
        }
        let found = match self.peek() {
            Token::End => ", found the end".to_owned(),
            Token::Symbol(symbol) => format!(", found '{symbol}'"),
            _ => String::new(),
        };
        SearchError::syntax(self.position(), format!("expected {what}{found}"))
    }

    fn nested(
        &mut self,
        parse: impl FnOnce(&mut Parser) -> Result<Expr, SearchError>,
    ) -> Result<Expr, SearchError> {
        if self.nesting == MAX_NESTING {
            let message = format!("search query is nested more than {MAX_NESTING} deep");
            return Err(SearchError::new(self.position(), message));
        }
        self.nesting += 1;
        let expr = parse(self);
        self.nesting -= 1;
        expr
    }

    fn or(&mut self) -> Result<Expr, SearchError> {
        let first = self.and()?;
        let mut terms = vec![first];
        while self.eat_word(Word::Or) {
            terms.push(self.and()?);
        }
        Ok(several(terms, Expr::Or))
    }

    fn and(&mut self) -> Result<Expr, SearchError> {
        let first = self.not()?;
        let mut terms = vec![first];
        while self.eat_word(Word::And) {
            terms.push(self.not()?);
        }
        Ok(several(terms, Expr::And))
    }

    fn not(&mut self) -> Result<Expr, SearchError> {
        if self.eat_word(Word::Not) {
            return Ok(negated(self.nested(Parser::not)?));
        }
        if self.eat(&Token::Symbol('(')) {
            let inner = self.nested(Parser::or)?;
            return match self.eat(&Token::Symbol(')')) {
                true => Ok(inner),
                false => Err(self.expected("AND, OR or ')'")),
            };
        }
        self.test()
    }

    fn test(&mut self) -> Result<Expr, SearchError> {
        let left = self.operand()?;
        let operator = self.position();
        if let Token::Compare(comparison) = *self.peek() {
            self.at += 1;
            return self.comparison(left, comparison, operator);
        }
        let Operand::Field(field) = left else {
            return Err(self.expected("=, !=, <, <=, > or >="));
        };
        if self.eat_word(Word::Is) {
            let not = self.eat_word(Word::Not);
            return match self.eat_word(Word::Null) {
                true => Ok(test(field, Check::IsNull, not)),
                false => Err(self.expected("NULL or NOT NULL")),
            };
        }
        let not = self.eat_word(Word::Not);
        let check = match *self.peek() {
            Token::Word(Word::In) => {
                self.at += 1;
                typing::one_of(&field, self.list()?)?
            }
            Token::Word(Word::Between) => {
                self.at += 1;
                let low = self.literal()?;
                if !self.eat_word(Word::And) {
                    return Err(self.expected("AND between the ends of BETWEEN"));
                }
                let high = self.literal()?;
                typing::between(&field, low, high, operator)?
            }
            Token::Word(word @ (Word::Like | Word::ILike)) => {
                self.at += 1;
                let case = match word {
                    Word::ILike => LetterCase::Ignored,
                    _ => LetterCase::Exact,
                };
                let pattern = self.literal()?;
                typing::like(&field, case, pattern, operator)?
            }
            _ if not => return Err(self.expected("IN, LIKE, ILIKE or BETWEEN")),
            _ => return Err(self.expected("an operator")),
        };
        Ok(test(field, check, not))
    }

    fn comparison(
        &mut self,
        left: Operand,
        comparison: Comparison,
        operator: usize,
    ) -> Result<Expr, SearchError> {
        let position = self.position();
        let right = self.operand().map_err(|error| match self.peek() {
            Token::Name(_) if error.help.is_none() => error.help("a text needs quotes"),
            _ => error,
        })?;
        let (field, comparison, literal) = match (left, right) {
            (Operand::Field(field), Operand::Literal(literal)) => (field, comparison, literal),
            (Operand::Literal(literal), Operand::Field(field)) => {
                (field, comparison.flipped(), literal)
            }
            (Operand::Field(_), Operand::Field(_)) => {
                let message = "a field can only be compared with a value";
                return Err(SearchError::new(position, message).help("a text needs quotes"));
            }
            (Operand::Literal(_), Operand::Literal(_)) => {
                let message = "a value can only be compared with a field";
                return Err(SearchError::new(operator, message));
            }
        };
        match (comparison, &literal.value) {
            (Comparison::Equal, Value::Null) => Ok(test(field, Check::IsNull, false)),
            (Comparison::NotEqual, Value::Null) => Ok(test(field, Check::IsNull, true)),
            _ => {
                let check = typing::compare(&field, comparison, literal, operator)?;
                Ok(test(field, check, false))
            }
        }
    }

    fn operand(&mut self) -> Result<Operand, SearchError> {
        let position = self.position();
        if let Token::Name(segments) = self.peek() {
            let field = Field::resolve(segments, position)?;
            self.at += 1;
            return Ok(Operand::Field(field));
        }
        match self.peek() {
            Token::Text(_) | Token::Number(_) | Token::Symbol('-') => {}
            Token::Word(Word::True | Word::False | Word::Null) => {}
            _ => return Err(self.expected("a field or a value")),
        }
        self.literal().map(Operand::Literal)
    }

    fn literal(&mut self) -> Result<Written, SearchError> {
        let position = self.position();
        let value = match self.take() {
            Token::Text(text) => Value::Text(text),
            Token::Number(number) => Value::Number(number),
            Token::Word(Word::True) => Value::Bool(true),
            Token::Word(Word::False) => Value::Bool(false),
            Token::Word(Word::Null) => Value::Null,
            Token::Symbol('-') => match self.take() {
                Token::Number(number) => Value::Number(number.negate()),
                _ => return Err(unsupported(position, "-")),
            },
            _ => {
                self.at -= 1;
                return Err(self.expected("a value"));
            }
        };
        Ok(Written { value, position })
    }

    fn list(&mut self) -> Result<Vec<Written>, SearchError> {
        let close = match self.take() {
            Token::Symbol('[') => Token::Symbol(']'),
            Token::Symbol('(') => Token::Symbol(')'),
            _ => {
                self.at -= 1;
                return Err(self.expected("a list such as ['a', 'b']"));
            }
        };
        let mut values = Vec::new();
        while !self.eat(&close) {
            values.push(self.literal()?);
            if !self.eat(&Token::Symbol(',')) && self.peek() != &close {
                return Err(self.expected("',' or the end of the list"));
            }
        }
        Ok(values)
    }
}

fn several(mut terms: Vec<Expr>, join: fn(Vec<Expr>) -> Expr) -> Expr {
    match terms.len() {
        1 => terms.remove(0),
        _ => join(terms),
    }
}

fn test(field: Field, check: Check, not: bool) -> Expr {
    let test = Expr::Test(Test { field, check });
    if not { negated(test) } else { test }
}

fn negated(expr: Expr) -> Expr {
    Expr::Not(Box::new(expr))
}

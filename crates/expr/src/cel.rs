//! CEL, the Common Expression Language: gates, captures and computed payload fields.
//!
//! ```text
//! source ──lexer──► tokens ──parser──► Expr ──compile──► plan (Program) ──machine──► Value ──► JSON
//!             declared variables, library, host functions ──┘                 ▲
//!             Bindings: &JSON by name, fixed now() ──────────────────────────┘
//! ```
//!
//! An [`Environment`] knows the variables of a stage. [`Environment::compile`] finds every mistake that can be known
//! without data and reports all of them with their place. A [`Program`] is evaluated against [`Bindings`], which borrow
//! the data: an expression costs what it touches. Evaluation does no IO, is bounded by [`Limits`], and never panics.
//!
//! ```
//! use hyperfleet_expr::cel::{Bindings, Environment, Type};
//!
//! let env = Environment::standard().with_variables([("cluster", Type::Dyn)]);
//! let ready = env.compile_predicate("cluster.status.phase == 'Ready'").unwrap();
//! let cluster = serde_json::json!({"status": {"phase": "Ready"}});
//! let bindings = Bindings::new(chrono::Utc::now()).bind("cluster", &cluster);
//! assert!(ready.evaluate_bool(&bindings).unwrap());
//!
//! let typo = env.compile("clutser.status").unwrap_err();
//! assert_eq!(typo.iter().next().unwrap().help.as_deref(), Some("did you mean `cluster`?"));
//! ```

mod ast;
mod bindings;
mod clock;
mod compile;
mod environment;
mod error;
mod function;
mod lexer;
mod library;
mod limits;
mod literal;
mod machine;
mod meter;
mod parser;
mod pattern;
mod plan;
mod problem;
mod program;
mod span;
mod typing;
mod value;

pub use bindings::Bindings;
pub use clock::parse_duration;
pub use environment::Environment;
pub use error::{ErrorKind, EvalError};
pub use function::{Call, Function, Style};
pub use limits::Limits;
pub use problem::{Problem, Problems};
pub use program::Program;
pub use typing::Type;
pub use value::{Key, List, Map, Str, Value};

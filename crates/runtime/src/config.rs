//! Layered configuration: flag > environment > file > default.
//!
//! ```text
//!  file ──yaml──► tree ──unknown keys?──┐
//!  HYPERFLEET_* ──schema──► nodes ──────┤ overlay, last wins ──► serde ──► T
//!  flags ─────────schema──► nodes ──────┘        │
//!                                                └──► origins (for `config print`)
//! ```
//!
//! The configuration struct is the only place that knows keys, types, defaults and documentation:
//! names of environment variables and the check for unknown keys come from its JSON Schema.
//! Fields need `#[serde(default)]`; a field without it is a key that must be given.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hyperfleet_source::{Diagnostic, Diagnostics, Node, SourceFile, Span, Value, schema, yaml};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

mod environment;
mod overlay;
mod print;

pub use print::Format;

/// Where a process looks for its configuration when nobody names a file.
pub const DEFAULT_PATHS: [&str; 2] = ["/etc/hyperfleet/config.yaml", "./configs/config.yaml"];

/// The variable that names the configuration file, unless [`Loader::file_env`] adds another.
pub const FILE_VARIABLE: &str = "HYPERFLEET_CONFIG";

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file was named and cannot be read.
    #[error("cannot read the {component} configuration {path} (from {origin}): {source}")]
    Unreadable {
        /// Whose configuration.
        component: String,
        /// The file.
        path: String,
        /// Who named it.
        origin: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Mistakes in the file, the environment or the flags.
    #[error("{0}")]
    Invalid(#[from] Diagnostics),
    /// Code sets a key that the configuration does not have: a mistake of ours, not the user's.
    #[error("{origin} sets the key `{path}`, which the configuration does not have")]
    NoSuchKey {
        /// The flag or variable.
        origin: String,
        /// The dotted key.
        path: String,
    },
}

/// Where a value that is not the default came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file, and the line.
    File(String, usize),
    /// An environment variable or a flag, as in `environment HYPERFLEET_SERVER_PORT`.
    Named(String),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::File(name, line) => write!(f, "{name}:{line}"),
            Origin::Named(name) => f.write_str(name),
        }
    }
}

/// A configuration and where its values came from.
#[derive(Clone)]
pub struct Loaded<T> {
    /// The effective configuration.
    pub value: T,
    /// The file it was read from, if any.
    pub file: Option<PathBuf>,
    /// Origin of every value that was given, by dotted key. What is not here is the default.
    pub origins: BTreeMap<String, Origin>,
    /// What was given, with its places: for checks that no type can express. Defaults are not in it.
    pub tree: Node,
    /// Things to tell the user once logging works.
    pub warnings: Vec<String>,
}

/// Without the tree: it holds secrets as they were written.
impl<T: std::fmt::Debug> std::fmt::Debug for Loaded<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loaded")
            .field("value", &self.value)
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl<T> Loaded<T> {
    /// Where relative paths in it start: beside the file, or where the process runs if there is none.
    pub fn directory(&self) -> PathBuf {
        let beside = self.file.as_deref().and_then(Path::parent);
        beside.unwrap_or(Path::new("")).to_owned()
    }
}

impl<T: Serialize> Loaded<T> {
    /// The effective configuration for people to read: secrets redacted, and in YAML the origin
    /// behind every value that is not the default.
    pub fn print(&self, format: Format) -> Result<String, serde_json::Error> {
        print::print(&serde_json::to_value(&self.value)?, &self.origins, format)
    }
}

/// Gathers the layers of one configuration.
#[derive(Clone, Debug)]
pub struct Loader {
    component: String,
    file: Option<PathBuf>,
    file_variables: Vec<String>,
    search: Vec<PathBuf>,
    environment: BTreeMap<String, String>,
    aliases: Vec<(String, String)>,
    flags: Vec<Flag>,
}

#[derive(Clone, Debug)]
struct Flag {
    name: String,
    path: String,
    value: String,
}

impl Loader {
    /// The configuration of `component`, with nothing given yet: neither the process environment
    /// nor any file is looked at unless it is passed in.
    pub fn new(component: impl Into<String>) -> Self {
        Self {
            component: component.into(),
            file: None,
            file_variables: vec![FILE_VARIABLE.to_owned()],
            search: Vec::new(),
            environment: BTreeMap::new(),
            aliases: Vec::new(),
            flags: Vec::new(),
        }
    }

    /// The file the user named with `--config`, if he did. It must exist.
    #[must_use]
    pub fn file(mut self, path: Option<PathBuf>) -> Self {
        self.file = path;
        self
    }

    /// Another variable that may name the file; it is asked before [`FILE_VARIABLE`].
    #[must_use]
    pub fn file_env(mut self, name: impl Into<String>) -> Self {
        self.file_variables.insert(0, name.into());
        self
    }

    /// Files to try when none was named, such as [`DEFAULT_PATHS`]. The first that exists is
    /// read; that none does is fine.
    #[must_use]
    pub fn search<P: Into<PathBuf>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        self.search = paths.into_iter().map(Into::into).collect();
        self
    }

    /// The environment. A variable set to nothing counts as not set.
    #[must_use]
    pub fn env(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let set = variables.into_iter().filter(|(_, value)| !value.is_empty());
        self.environment.extend(set);
        self
    }

    /// The environment of this process. Variables that are not Unicode are left out.
    #[must_use]
    pub fn process_env(self) -> Self {
        let text = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        self.env(text)
    }

    /// Another variable for the key at `path`. It wins over the generic name, and over aliases
    /// that are added later.
    #[must_use]
    pub fn env_alias(mut self, name: impl Into<String>, path: impl Into<String>) -> Self {
        self.aliases.push((name.into(), path.into()));
        self
    }

    /// A flag the user may have given for the key at `path`. Messages call it by its usual name:
    /// `--server-port` for `server.port`.
    #[must_use]
    pub fn flag<V: ToString>(self, path: impl Into<String>, value: Option<V>) -> Self {
        let path = path.into();
        let name = format!("--{}", path.replace(['.', '_'], "-"));
        self.flag_named(name, path, value)
    }

    /// A flag whose name does not follow from its key.
    #[must_use]
    pub fn flag_named<V: ToString>(
        mut self,
        name: impl Into<String>,
        path: impl Into<String>,
        value: Option<V>,
    ) -> Self {
        if let Some(value) = value {
            self.flags.push(Flag {
                name: name.into(),
                path: path.into(),
                value: value.to_string(),
            });
        }
        self
    }

    /// Reads, merges and checks everything. All mistakes that can be found at once are reported
    /// at once.
    pub fn load<T>(&self) -> Result<Loaded<T>, ConfigError>
    where
        T: Serialize + DeserializeOwned + JsonSchema,
    {
        let schema = schemars::schema_for!(T);
        let leaves = schema::leaves(&schema);
        let path = self.find_file()?;
        let mut tree = match &path {
            Some(path) => self.read(path)?,
            None => self.nothing(),
        };
        let mut found = schema::unknown_keys(&tree, &schema);
        if !matches!(tree.value, Value::Mapping(_) | Value::Null) {
            let message = format!(
                "expected a mapping of keys to values, found {}",
                tree.kind()
            );
            found.push(tree.error(message));
        }
        let mut settings = environment::settings(&self.environment, &self.aliases, &leaves)?;
        for flag in &self.flags {
            settings.push(overlay::Setting::new(
                format!("flag {}", flag.name),
                &flag.path,
                &flag.value,
                &leaves,
            )?);
        }
        for setting in settings {
            if let Err(wrong) = overlay::apply(&mut tree, setting) {
                found.push(wrong);
            }
        }
        let tree = Diagnostics::check(found, tree)?;
        let value = tree.deserialize()?;
        let mut origins = BTreeMap::new();
        collect_origins(&tree, &mut Vec::new(), &mut origins);
        let known_files = &self.file_variables;
        Ok(Loaded {
            value,
            file: path.map(|named| named.path),
            origins,
            tree,
            warnings: environment::misspelt(&self.environment, &self.aliases, &leaves, known_files),
        })
    }

    fn find_file(&self) -> Result<Option<NamedFile>, ConfigError> {
        let named = |path: &Path, origin: String| NamedFile {
            path: path.to_owned(),
            origin,
        };
        if let Some(path) = &self.file {
            return Ok(Some(named(path, "flag --config".to_owned())));
        }
        let variable = self
            .file_variables
            .iter()
            .find_map(|name| Some((name, self.environment.get(name)?)));
        if let Some((name, path)) = variable {
            return Ok(Some(named(Path::new(path), format!("environment {name}"))));
        }
        let existing = self.search.iter().find(|path| path.exists());
        Ok(existing.map(|path| named(path, "the default location".to_owned())))
    }

    fn read(&self, named: &NamedFile) -> Result<Node, ConfigError> {
        let name = named.path.display().to_string();
        match std::fs::read_to_string(&named.path) {
            Ok(text) => Ok(yaml::parse(&SourceFile::new(name, text))?),
            Err(source) => Err(ConfigError::Unreadable {
                component: self.component.clone(),
                path: name,
                origin: named.origin.clone(),
                source,
            }),
        }
    }

    /// What stands in for a file that was not given: messages about missing keys point here.
    fn nothing(&self) -> Node {
        let name = format!("{} configuration", self.component);
        let file = SourceFile::single_value(name, "");
        Node::new(&file, Span::at(0), Value::Null)
    }
}

struct NamedFile {
    path: PathBuf,
    origin: String,
}

fn collect_origins(node: &Node, path: &mut Vec<String>, origins: &mut BTreeMap<String, Origin>) {
    if let Some(entries) = node.as_mapping() {
        for (key, value) in entries {
            path.push(key.text.clone());
            collect_origins(value, path, origins);
            path.pop();
        }
        return;
    }
    if node.is_null() {
        return; // left empty, so the default holds
    }
    let origin = if node.file.is_single_value() {
        Origin::Named(node.file.name().to_owned())
    } else {
        let line = node.file.position(node.span.start).line;
        Origin::File(node.file.name().to_owned(), line)
    };
    origins.insert(path.join("."), origin);
}

/// Findings about a configuration that was read, for checks that no type can express.
impl From<Diagnostic> for ConfigError {
    fn from(found: Diagnostic) -> Self {
        Self::Invalid(found.into())
    }
}

#[cfg(test)]
mod tests;

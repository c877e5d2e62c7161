//! The servers a person works with, by name, and which one is meant now.
//!
//! ```yaml
//! current_context: prod
//! contexts:
//!   - name: local
//!     server: http://127.0.0.1:8000
//!   - name: prod
//!     server: https://hyperfleet.example.com
//!     token: {oidc: {issuer: https://login.example.com, client_id: hyperfleet}}
//! ```
//!
//! One file, `hyperfleet/config.yaml` in the XDG configuration directory, for its owner's eyes only.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use hyperfleet_source::suggest;
use hyperfleet_source::{SourceFile, yaml};
use serde::{Deserialize, Serialize};

use super::exit::Exit;
use super::failure::Failure;

/// The name under which `hyperfleet up` leaves its address.
pub(crate) const LOCAL: &str = "local";

/// The file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Contexts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) current_context: Option<String>,
    #[serde(default)]
    pub(crate) contexts: Vec<Context>,
}

/// One server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Context {
    pub(crate) name: String,
    /// Scheme, host and port.
    pub(crate) server: String,
    /// Where the bearer token comes from; none if the server does not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<TokenSource>,
    /// Sent with every request, for example to name a tenant.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
    /// Whose children are meant when nothing is said, for example `cluster/production-1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<String>,
}

/// Where a token comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TokenSource {
    /// A file, read for every command.
    File(PathBuf),
    /// An environment variable.
    Env(String),
    /// A program that prints it: as it is, or as kubectl's ExecCredential.
    Exec(Vec<String>),
    /// A login in a browser, anywhere, by the device flow.
    Oidc(Oidc),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Oidc {
    pub(crate) issuer: String,
    pub(crate) client_id: String,
    #[serde(default = "default_scopes")]
    pub(crate) scopes: Vec<String>,
}

/// `offline_access` is what makes issuers give a token that renews the other.
pub(crate) fn default_scopes() -> Vec<String> {
    vec!["openid".to_owned(), "offline_access".to_owned()]
}

impl Contexts {
    /// The file as it is; nothing if there is none.
    pub(crate) fn load() -> Result<Contexts, Failure> {
        match path()? {
            path if path.exists() => Contexts::read(&path),
            _ => Ok(Contexts::default()),
        }
    }

    fn read(path: &Path) -> Result<Contexts, Failure> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
        let file = SourceFile::new(path.display().to_string(), text);
        let tree = yaml::parse(&file).map_err(|wrong| Failure::usage(wrong.to_string()))?;
        if tree.is_null() {
            return Ok(Contexts::default());
        }
        tree.deserialize()
            .map_err(|wrong| Failure::usage(wrong.to_string()))
    }

    pub(crate) fn save(&self) -> Result<(), Failure> {
        let path = path()?;
        write_private(&path, &self.text()?).map_err(|error| {
            Failure::new(
                Exit::Failed,
                format!("cannot write {}: {error}", path.display()),
            )
        })
    }

    pub(crate) fn text(&self) -> Result<String, Failure> {
        // Through JSON, so that a token source is a mapping and not a YAML tag.
        let json = serde_json::to_value(self).map_err(anyhow::Error::from)?;
        Ok(serde_yaml_ng::to_string(&json).map_err(anyhow::Error::from)?)
    }

    pub(crate) fn get(&self, name: &str) -> Result<&Context, Failure> {
        let found = self.contexts.iter().find(|context| context.name == name);
        found.ok_or_else(|| {
            let names = self.contexts.iter().map(|context| context.name.as_str());
            let failure = Failure::new(
                Exit::NotFound,
                format!("there is no context called `{name}`"),
            );
            match suggest::help(name, names) {
                Some(help) => failure.hint(help),
                None => failure.hint("add one with `hyperfleet config set-context`"),
            }
        })
    }

    /// The one that is meant if none is named.
    pub(crate) fn current(&self) -> Result<Option<&Context>, Failure> {
        match &self.current_context {
            Some(name) => self.get(name).map(Some),
            None => Ok(None),
        }
    }

    /// Puts a context in the place of its namesake, or behind the others.
    pub(crate) fn put(&mut self, context: Context) {
        match self
            .contexts
            .iter_mut()
            .find(|other| other.name == context.name)
        {
            Some(place) => *place = context,
            None => self.contexts.push(context),
        }
    }
}

/// Leaves the address of a local system where every later command finds it. The current context stays what it is, if
/// there is one.
pub(crate) fn remember_local(server: &str) -> Result<(), Failure> {
    let mut contexts = Contexts::load()?;
    let before = contexts.clone();
    contexts.put(Context {
        name: LOCAL.to_owned(),
        server: server.to_owned(),
        token: None,
        headers: BTreeMap::new(),
        parent: None,
    });
    contexts
        .current_context
        .get_or_insert_with(|| LOCAL.to_owned());
    match contexts == before {
        true => Ok(()),
        false => contexts.save(),
    }
}

/// Where the file is.
pub(crate) fn path() -> Result<PathBuf, Failure> {
    Ok(xdg("XDG_CONFIG_HOME", ".config")?.join("config.yaml"))
}

/// Our directory in one of the XDG base directories.
pub(crate) fn xdg(variable: &str, below_home: &str) -> Result<PathBuf, Failure> {
    // A relative path in these variables is to be ignored, says the specification.
    let set = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let base = set(variable).or_else(|| Some(set("HOME")?.join(below_home)));
    base.map(|base| base.join("hyperfleet"))
        .ok_or_else(|| Failure::usage(format!("neither {variable} nor HOME names a directory")))
}

/// Writes a file that only its owner can read, whole or not at all.
pub(crate) fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(directory) = path.parent() {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)?;
    }
    let unfinished = path.with_extension(format!("{}.new", std::process::id()));
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&unfinished)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&unfinished, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_with_every_token_source() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("hyperfleet/config.yaml");
        let sources = [
            None,
            Some(TokenSource::File("/token".into())),
            Some(TokenSource::Env("TOKEN".to_owned())),
            Some(TokenSource::Exec(vec!["print".to_owned(), "it".to_owned()])),
            Some(TokenSource::Oidc(Oidc {
                issuer: "https://login".to_owned(),
                client_id: "me".to_owned(),
                scopes: default_scopes(),
            })),
        ];
        let mut contexts = Contexts::default();
        for (index, token) in sources.into_iter().enumerate() {
            contexts.put(Context {
                name: format!("c{index}"),
                server: "http://localhost:8000".to_owned(),
                token,
                headers: BTreeMap::from([("X-Org".to_owned(), "acme".to_owned())]),
                parent: None,
            });
        }
        contexts.current_context = Some("c1".to_owned());
        write_private(&path, &contexts.text().unwrap()).unwrap();
        assert_eq!(Contexts::read(&path).unwrap(), contexts);
        assert_eq!(contexts.current().unwrap().unwrap().name, "c1");
    }

    #[test]
    fn a_mistake_in_the_file_is_told_with_its_place() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.yaml");
        std::fs::write(&path, "contexts:\n  - name: a\n    sever: http://x\n").unwrap();
        let told = Contexts::read(&path).unwrap_err().to_string();
        assert!(told.contains("config.yaml:3:5"), "{told}");
        assert!(told.contains("server"), "{told}");
    }

    #[test]
    fn a_context_that_is_not_there_suggests_one_that_is() {
        let mut contexts = Contexts::default();
        contexts.put(Context {
            name: "production".to_owned(),
            server: "https://x".to_owned(),
            token: None,
            headers: BTreeMap::new(),
            parent: None,
        });
        let told = contexts.get("prodution").unwrap_err().to_string();
        assert!(told.contains("did you mean `production`?"), "{told}");
    }
}

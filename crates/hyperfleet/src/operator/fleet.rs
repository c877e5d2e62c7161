//! A server's resources as a person speaks of them: by kind and name.

use hyperfleet_client::{CallError, Client, ListQuery, RemoteResource};
use hyperfleet_core::identity::ResourceId;
use hyperfleet_source::suggest;
use tokio::sync::OnceCell;

use super::connect::ConnectArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::kinds::{KindInfo, Kinds};
use super::place::Place;

/// How many names are looked through for one that was probably meant.
const NEIGHBOURS: u32 = 100;
/// What an ambiguous name may stand for before it is no use to list it.
const NAMESAKES: u32 = 10;

/// A server, and what it has.
#[derive(Debug)]
pub(crate) struct Fleet {
    pub(crate) client: Client,
    pub(crate) place: Place,
    kinds: OnceCell<Kinds>,
    /// Whose children are meant when nothing is said.
    parent: Option<String>,
    /// How it was found.
    args: ConnectArgs,
}

impl Fleet {
    pub(crate) fn new(
        client: Client,
        place: Place,
        parent: Option<String>,
        args: ConnectArgs,
    ) -> Fleet {
        Fleet {
            client,
            place,
            kinds: OnceCell::new(),
            parent,
            args,
        }
    }

    /// The same server with a new token.
    pub(crate) async fn again(&self) -> Result<Fleet, Failure> {
        // Boxed: connecting makes a fleet, and a fleet connects.
        Box::pin(self.args.connect()).await
    }

    /// A failed call, in words of this server.
    pub(crate) fn told(&self, error: CallError) -> Failure {
        Failure::of_call(&error, &self.place)
    }

    /// The kinds it has; asked once.
    pub(crate) async fn kinds(&self) -> Result<&Kinds, Failure> {
        let ask = || async {
            let metadata = self
                .client
                .metadata()
                .await
                .map_err(|error| self.told(error))?;
            match Kinds::from_metadata(&metadata) {
                Some(kinds) => Ok(kinds),
                None => {
                    let contract = self
                        .client
                        .openapi()
                        .await
                        .map_err(|error| self.told(error))?;
                    Ok(Kinds::from_contract(&contract))
                }
            }
        };
        self.kinds.get_or_try_init(ask).await
    }

    pub(crate) async fn kind(&self, word: &str) -> Result<&KindInfo, Failure> {
        self.kinds().await?.named(word)
    }

    /// The kind of a resource that was read.
    pub(crate) async fn kind_of(&self, resource: &RemoteResource) -> Result<&KindInfo, Failure> {
        self.kinds().await?.named(&resource.kind)
    }

    /// The resource that `KIND/NAME` or `KIND/ID` means.
    pub(crate) async fn resource(&self, word: &str) -> Result<RemoteResource, Failure> {
        let (kind, name) = split(word)?;
        let kind = self.kind(kind).await?;
        self.find(kind, name, None).await
    }

    /// The parent that is meant for children of a kind: the one that is named, else the one of the context.
    pub(crate) async fn parent_for(
        &self,
        kind: &KindInfo,
        named: Option<&str>,
    ) -> Result<Option<RemoteResource>, Failure> {
        let Some(parent_kind) = &kind.parent_kind else {
            return match named {
                Some(_) => Err(Failure::usage(format!("{} have no parent", kind.plural))),
                None => Ok(None),
            };
        };
        let Some(word) = named.or(self.parent.as_deref()) else {
            return Ok(None);
        };
        let parent = match word.contains('/') {
            true => self.resource(word).await?,
            false => {
                let parent = self.kind(parent_kind).await?;
                self.find(parent, word, None).await?
            }
        };
        match parent.kind == *parent_kind {
            true => Ok(Some(parent)),
            false if named.is_none() => Ok(None),
            false => Err(Failure::usage(format!(
                "`{word}` is a {}; the parent of a {} is a {parent_kind}",
                parent.kind, kind.kind
            ))),
        }
    }

    /// The resource of a kind with this name or id; with a parent, only among its children.
    pub(crate) async fn find(
        &self,
        kind: &KindInfo,
        asked: &str,
        parent: Option<&RemoteResource>,
    ) -> Result<RemoteResource, Failure> {
        if ResourceId::parse(asked).is_some() {
            let found = self.client.get(&kind.plural, asked).await;
            return found.map_err(|error| self.told(error));
        }
        let mut search = format!("name = {}", quoted(asked));
        if let Some(parent) = parent {
            search.push_str(&format!(" AND owner_id = {}", quoted(&parent.id)));
        }
        let mut found = self.some(kind, search, NAMESAKES, None).await?;
        // An API that does not know `search` answers with everything.
        found.retain(|resource| resource.name == asked);
        // One that goes may have given its name to one that stays.
        if found.len() > 1 {
            let staying = found.iter().filter(|one| !one.is_deleting()).count();
            if staying == 1 {
                found.retain(|one| !one.is_deleting());
            }
        }
        match found.len() {
            0 => Err(self.missing(kind, asked, parent).await),
            1 => Ok(found.swap_remove(0)),
            _ => Err(ambiguous(kind, asked, &found)),
        }
    }

    async fn some(
        &self,
        kind: &KindInfo,
        search: String,
        size: u32,
        fields: Option<&str>,
    ) -> Result<Vec<RemoteResource>, Failure> {
        let query = ListQuery {
            search: Some(search).filter(|search| !search.is_empty()),
            size: Some(size),
            fields: fields.map(str::to_owned),
            ..ListQuery::default()
        };
        let page = self.client.list(&kind.plural, &query).await;
        Ok(page.map_err(|error| self.told(error))?.items)
    }

    async fn missing(
        &self,
        kind: &KindInfo,
        asked: &str,
        parent: Option<&RemoteResource>,
    ) -> Failure {
        let place = match parent {
            Some(parent) => format!(" in {}/{}", parent.kind.to_lowercase(), parent.name),
            None => String::new(),
        };
        let failure = Failure::new(
            Exit::NotFound,
            format!("there is no {} called `{asked}`{place}", kind.singular),
        );
        // Only a courtesy: if it fails as well, what is missing is still the news.
        let others = self.some(kind, String::new(), NEIGHBOURS, Some("name"));
        let others = others.await.unwrap_or_default();
        let names = others.iter().map(|other| other.name.as_str());
        match suggest::nearest(asked, names) {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint(format!("`hyperfleet get {}` lists them", kind.plural)),
        }
    }
}

fn ambiguous(kind: &KindInfo, asked: &str, found: &[RemoteResource]) -> Failure {
    let mut failure = Failure::new(
        Exit::Conflict,
        format!("several {} are called `{asked}`", kind.plural),
    );
    for one in found {
        let owner = match &one.owner_references {
            Some(owner) => format!(", of {} {}", owner.kind.to_lowercase(), owner.id),
            None => String::new(),
        };
        failure = failure.detail(format!("{}{owner}", one.id));
    }
    failure.hint("say which one by its id, or with --parent")
}

/// A resource as a command names it.
pub(crate) fn split(word: &str) -> Result<(&str, &str), Failure> {
    word.split_once('/')
        .filter(|(kind, name)| !kind.is_empty() && !name.is_empty() && !name.contains('/'))
        .ok_or_else(|| {
            Failure::usage(format!(
                "`{word}` is no resource; write its kind and its name or id: cluster/production-1"
            ))
        })
}

/// A text of the search language.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// `cluster/production-1`.
pub(crate) fn called(resource: &RemoteResource) -> String {
    format!("{}/{}", resource.kind.to_lowercase(), resource.name)
}

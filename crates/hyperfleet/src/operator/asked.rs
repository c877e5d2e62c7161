//! Which resources a command means: `clusters`, `cluster a b`, `cluster/a nodepool/b`.

use hyperfleet_client::RemoteResource;

use super::failure::Failure;
use super::fleet::{Fleet, split};
use super::kinds::KindInfo;

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Whole kinds.
    Kinds(Vec<String>),
    /// Each by its kind and its name or id.
    Named(Vec<(String, String)>),
}

impl Asked {
    pub(crate) fn read(words: &[String]) -> Result<Asked, Failure> {
        let Some((first, rest)) = words.split_first() else {
            return Err(Failure::usage("say what: a kind, or KIND/NAME")
                .hint("`hyperfleet api-resources` lists the kinds there are"));
        };
        if first.contains('/') {
            let named = words.iter().map(|word| {
                let (kind, name) = split(word)?;
                Ok((kind.to_owned(), name.to_owned()))
            });
            return Ok(Asked::Named(named.collect::<Result<_, Failure>>()?));
        }
        if rest.is_empty() {
            let kinds = first.split(',').filter(|kind| !kind.is_empty());
            return Ok(Asked::Kinds(kinds.map(str::to_owned).collect()));
        }
        let named = rest.iter().map(|name| match name.contains('/') {
            true => Err(Failure::usage(format!(
                "`{name}`: write either KIND NAME… or KIND/NAME…, not both"
            ))),
            false => Ok((first.clone(), name.clone())),
        });
        Ok(Asked::Named(named.collect::<Result<_, Failure>>()?))
    }

    /// The resources that are named, for a command that takes no whole kinds.
    pub(crate) async fn resources<'f>(
        words: &[String],
        fleet: &'f Fleet,
        parent: Option<&str>,
    ) -> Result<Vec<(&'f KindInfo, RemoteResource)>, Failure> {
        let named = match Asked::read(words)? {
            Asked::Named(named) => named,
            Asked::Kinds(kinds) => {
                return Err(Failure::usage(format!(
                    "`{}` is a whole kind; say which one: KIND/NAME",
                    kinds.join(",")
                )));
            }
        };
        let mut found = Vec::new();
        for (kind, name) in &named {
            let kind = fleet.kind(kind).await?;
            let resource = find(fleet, kind, name, parent).await?;
            // `all/ID` means whatever has that id.
            let kind = match kind.is_every() {
                true => fleet.kind_of(&resource).await?,
                false => kind,
            };
            found.push((kind, resource));
        }
        Ok(found)
    }
}

/// The resource of a kind with this name or id, among the children of a parent if one is named.
pub(crate) async fn find(
    fleet: &Fleet,
    kind: &KindInfo,
    name: &str,
    parent: Option<&str>,
) -> Result<RemoteResource, Failure> {
    let parent = fleet.parent_for(kind, parent).await?;
    fleet.find(kind, name, parent.as_ref()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Asked, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Asked::read(&words).map_err(|failure| failure.to_string())
    }

    fn named(pairs: &[(&str, &str)]) -> Asked {
        let own = |(kind, name): &(&str, &str)| ((*kind).to_owned(), (*name).to_owned());
        Asked::Named(pairs.iter().map(own).collect())
    }

    #[test]
    fn kinds_and_names_are_read_as_kubectl_reads_them() {
        assert_eq!(
            read(&["clusters,np"]).unwrap(),
            Asked::Kinds(vec!["clusters".to_owned(), "np".to_owned()])
        );
        assert_eq!(
            read(&["cl", "a", "b"]).unwrap(),
            named(&[("cl", "a"), ("cl", "b")])
        );
        assert_eq!(
            read(&["cl/a", "np/b"]).unwrap(),
            named(&[("cl", "a"), ("np", "b")])
        );
        assert!(read(&[]).is_err());
        assert!(read(&["cl/a", "b"]).is_err());
        assert!(read(&["cl", "np/b"]).is_err());
        assert!(read(&["cl/"]).is_err());
    }
}

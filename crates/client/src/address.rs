//! Where a call goes: the base URL, and what a path written by a person means under it.

use std::fmt;

use reqwest::Url;

/// Scheme, host and optional path of the API, without a trailing slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    url: Url,
    version: String,
}

/// Why a text is no base URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaseUrlError {
    #[error("the API's base URL is empty; give one such as http://hyperfleet-api:8000")]
    Empty,
    #[error("the API's base URL `{0}` is not a URL: {1}")]
    NotAUrl(String, String),
    #[error("the API's base URL `{0}` must begin with http:// or https://")]
    Scheme(String),
    #[error("the API's base URL `{0}` has no host")]
    NoHost(String),
    #[error("the API's base URL `{0}` must not have a query or a fragment")]
    Query(String),
    #[error("the API's base URL must not hold a user name or password; configure a token instead")]
    Credentials,
    #[error("the API version `{0}` must be one path segment such as v1")]
    Version(String),
}

impl BaseUrl {
    pub fn parse(text: &str, version: &str) -> Result<BaseUrl, BaseUrlError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(BaseUrlError::Empty);
        }
        let mut url = Url::parse(text).map_err(|error| match error.to_string() {
            reason if reason == "empty host" => BaseUrlError::NoHost(text.to_owned()),
            reason => BaseUrlError::NotAUrl(text.to_owned(), reason),
        })?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BaseUrlError::Credentials);
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(BaseUrlError::Scheme(text.to_owned()));
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(BaseUrlError::NoHost(text.to_owned()));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(BaseUrlError::Query(text.to_owned()));
        }
        if version.is_empty()
            || version.contains(['/', '?', '#', '%', '\\'])
            || version.starts_with('.')
        {
            return Err(BaseUrlError::Version(version.to_owned()));
        }
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        Ok(BaseUrl {
            url,
            version: version.to_owned(),
        })
    }

    /// Whether a URL is the API's own: only then does it see the token.
    pub(crate) fn is_origin_of(&self, url: &Url) -> bool {
        self.url.origin() == url.origin()
    }

    /// The URL of a path of the API, each segment escaped, so that an id can never leave its place.
    pub(crate) fn of_segments<'a>(&self, segments: impl IntoIterator<Item = &'a str>) -> Url {
        let mut url = self.url.clone();
        // Fails only for URLs that cannot have a path, and http(s) ones can.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty()
                .extend(["api", "hyperfleet", &self.version])
                .extend(segments);
        }
        url
    }

    /// What a URL in a call means.
    ///
    /// - absolute: itself
    /// - `/api/…` or `api/…`: below the base URL
    /// - any other relative path: below `/api/hyperfleet/<version>/`
    ///
    /// `.` and `..` are resolved within the path, and never above it. The query is kept.
    pub fn resolve(&self, text: &str) -> Result<Url, String> {
        let text = text.trim();
        if let Some(absolute) = self.absolute(text)? {
            return Ok(absolute);
        }
        if text.starts_with("//") {
            return Err(format!(
                "`{text}` has no scheme; write http:// or https:// before it"
            ));
        }
        let text = text.split_once('#').map_or(text, |(before, _)| before);
        let (path, query) = match text.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (text, None),
        };
        let clean = clean_path(path);
        if clean.is_empty() {
            return Err("the URL is empty".to_owned());
        }
        let mut url = self.url.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        if clean == "api" || clean.starts_with("api/") {
            url.set_path(&format!("{base}/{clean}"));
        } else {
            url.set_path(&format!("{base}/api/hyperfleet/{}/{clean}", self.version));
        }
        url.set_query(query);
        Ok(url)
    }

    fn absolute(&self, text: &str) -> Result<Option<Url>, String> {
        let Some((scheme, _)) = text.split_once("://") else {
            return Ok(None);
        };
        // `clusters?next=http://x` is relative: a scheme has no such characters.
        if !scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        {
            return Ok(None);
        }
        let url = Url::parse(text).map_err(|error| format!("not a URL: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("scheme `{}` is not http or https", url.scheme()));
        }
        Ok(Some(url))
    }
}

/// Without empty, `.` and `..` segments; a trailing slash goes too.
fn clean_path(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            name => kept.push(name),
        }
    }
    kept.join("/")
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> BaseUrl {
        BaseUrl::parse("http://api:8000/", "v1").unwrap()
    }

    #[test]
    fn a_base_url_has_scheme_and_host_and_nothing_to_hide() {
        let refused = |text: &str| BaseUrl::parse(text, "v1").unwrap_err().to_string();
        assert!(refused(" ").contains("is empty"));
        assert!(
            refused("api:8000").contains("must begin with http"),
            "{}",
            refused("api:8000")
        );
        assert!(refused("ftp://api").contains("must begin with http"));
        assert!(refused("http://").contains("no host"));
        assert!(refused("http://api?x=1").contains("query"));
        let secret = refused("http://user:secret@api");
        assert!(secret.contains("token") && !secret.contains("secret"));
        assert!(BaseUrl::parse("http://api", "v1/../x").is_err());
        assert_eq!(
            BaseUrl::parse("https://api/prefix//", "v1")
                .unwrap()
                .to_string(),
            "https://api/prefix"
        );
    }

    #[test]
    fn a_relative_path_lies_below_the_api() {
        let of = |text: &str| base().resolve(text).unwrap().to_string();
        for same in [
            "clusters/1",
            "/clusters/1",
            "./clusters//1/",
            "a/../clusters/1",
        ] {
            assert_eq!(
                of(same),
                "http://api:8000/api/hyperfleet/v1/clusters/1",
                "{same}"
            );
        }
        assert_eq!(of("/api/other/v2/x"), "http://api:8000/api/other/v2/x");
        assert_eq!(
            of("api/hyperfleet/v1/clusters"),
            "http://api:8000/api/hyperfleet/v1/clusters"
        );
        assert_eq!(
            of("../../../secret"),
            "http://api:8000/api/hyperfleet/v1/secret"
        );
    }

    #[test]
    fn the_query_is_kept() {
        let of = |text: &str| base().resolve(text).unwrap().to_string();
        assert_eq!(
            of("clusters?search=a%3D'b'&page=2"),
            "http://api:8000/api/hyperfleet/v1/clusters?search=a%3D%27b%27&page=2"
        );
        assert_eq!(
            of("clusters?next=http://x"),
            "http://api:8000/api/hyperfleet/v1/clusters?next=http://x"
        );
        assert_eq!(
            of("http://api:8000/api/hyperfleet/v1/clusters?page=2"),
            "http://api:8000/api/hyperfleet/v1/clusters?page=2"
        );
    }

    #[test]
    fn an_absolute_url_is_itself() {
        let other = base().resolve("https://elsewhere/x?y=1").unwrap();
        assert_eq!(other.as_str(), "https://elsewhere/x?y=1");
        assert!(!base().is_origin_of(&other));
        assert!(
            !base().is_origin_of(&base().resolve("https://api:8000/x").unwrap()),
            "another scheme is another origin"
        );
        assert!(base().is_origin_of(&base().resolve("http://API:8000/x").unwrap()));
        assert!(base().resolve("//elsewhere/x").is_err());
        assert!(base().resolve("file:///etc/passwd").is_err());
    }

    #[test]
    fn a_base_path_stays_in_front() {
        let base = BaseUrl::parse("http://gate/fleet/", "v1").unwrap();
        assert_eq!(
            base.resolve("clusters").unwrap().path(),
            "/fleet/api/hyperfleet/v1/clusters"
        );
        assert_eq!(base.resolve("/api/x").unwrap().path(), "/fleet/api/x");
        assert_eq!(
            base.of_segments(["clusters", "a/../b?c"]).path(),
            "/fleet/api/hyperfleet/v1/clusters/a%2F..%2Fb%3Fc"
        );
    }
}

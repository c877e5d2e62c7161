//! A token that whoever asks for metrics must show.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};

/// Why there is no token to compare with.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("metrics.token_file: cannot read {path}: {source}")]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("metrics.token_file: {0} is empty")]
    Empty(PathBuf),
}

/// The file with the token. Read for every request, which are few: a new token counts at once.
#[derive(Debug)]
pub(super) struct Token(PathBuf);

impl Token {
    /// Fails if there is no token in the file: nobody could ever be let in.
    pub(super) fn new(path: PathBuf) -> Result<Token, TokenError> {
        let token = Token(path);
        token.read()?;
        Ok(token)
    }

    /// The routes, for those who show the token.
    pub(super) fn guard(self, routes: Router) -> Router {
        routes.route_layer(from_fn_with_state(Arc::new(self), check))
    }

    fn read(&self) -> Result<String, TokenError> {
        let text = std::fs::read_to_string(&self.0).map_err(|source| TokenError::Unreadable {
            path: self.0.clone(),
            source,
        })?;
        match text.trim() {
            "" => Err(TokenError::Empty(self.0.clone())),
            token => Ok(token.to_owned()),
        }
    }
}

async fn check(State(token): State<Arc<Token>>, request: Request, next: Next) -> Response {
    let refused = || {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        (StatusCode::UNAUTHORIZED, challenge).into_response()
    };
    match token.read() {
        Ok(expected) if shown(request.headers()).is_some_and(|shown| same(shown, &expected)) => {
            next.run(request).await
        }
        Ok(_) => refused(),
        Err(error) => {
            tracing::error!(%error, "nobody is told metrics");
            refused()
        }
    }
}

fn shown(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim())
}

/// Looks at every byte, so that the time it takes does not tell how many are right.
fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .fold(0, |differences, (one, other)| differences | (one ^ other))
            == 0
}

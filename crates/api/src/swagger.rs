//! The OpenAPI document as a page to read and try: Swagger UI, from this server alone.

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyperfleet_core::resource::BASE_PATH;
use swagger_ui_redist::{SwaggerUi, SwaggerUiStaticFile};

use crate::state::ApiState;

/// Nothing from elsewhere and no inline script. Swagger UI sets style attributes and has images in its style sheet.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE: &str = r##"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>HyperFleet API</title>
<link rel="stylesheet" href="/api/hyperfleet/v1/openapi/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/api/hyperfleet/v1/openapi/swagger-ui-bundle.js"></script>
<script src="/api/hyperfleet/v1/openapi/start.js"></script>
</body>
</html>
"##;

/// The validator badge would ask a server on the internet.
const START: &str = r##"SwaggerUIBundle({
  url: "/api/hyperfleet/v1/openapi",
  dom_id: "#swagger-ui",
  deepLinking: true,
  docExpansion: "none",
  displayOperationId: true,
  validatorUrl: null,
});
"##;

pub(crate) async fn page() -> Response {
    file("text/html", PAGE.as_bytes())
}

/// The files the page loads. They are not part of the contract.
pub(crate) fn assets() -> Router<ApiState> {
    let mut router = Router::new().route(
        &path("start.js"),
        get(|| async { file("text/javascript", START.as_bytes()) }),
    );
    for (name, content) in SwaggerUi::static_files() {
        let kind = match name {
            SwaggerUiStaticFile::Css => "text/css",
            SwaggerUiStaticFile::Js => "text/javascript",
            _ => continue,
        };
        router = router.route(
            &path(name.file_name()),
            get(move || async move { file(kind, content) }),
        );
    }
    router
}

fn path(name: &str) -> String {
    format!("{BASE_PATH}/openapi/{name}")
}

fn file(kind: &'static str, content: &'static [u8]) -> Response {
    let mut response = content.into_response();
    for (header, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ] {
        response
            .headers_mut()
            .insert(header, HeaderValue::from_static(value));
    }
    response
}

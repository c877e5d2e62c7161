use serde_json::json;

use super::*;

fn client(keys: serde_json::Value) -> MaestroClient {
    let mut all = json!({"grpc_server_address": "maestro:8090", "http_server_address": "https://maestro:8000",
        "source_id": "hyperfleet", "auth": {"tls_config": {"ca_file": "/certs/ca.crt"}}});
    for (key, value) in keys.as_object().unwrap() {
        all[key] = value.clone();
    }
    serde_json::from_value(all).unwrap()
}

#[test]
fn what_is_not_said_has_its_default() {
    let config = client(json!({})).target().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(config.client_id, "hyperfleet");
    assert_eq!(config.attempts, 3);
    assert_eq!(config.timeout, Duration::from_secs(10));
    assert_eq!(config.silence, Duration::from_secs(20));
    assert_eq!(config.keepalive, None);
    assert!(!MaestroClient::default().is_configured());
}

#[test]
fn every_key_arrives() {
    let config = client(json!({
        "client_id": "one", "timeout": "3s", "server_healthiness_timeout": "4s", "retry_attempts": 5,
        "keepalive": {"time": "30s"},
        "auth": {"type": "tls", "tls_config": {"ca_file": "a", "cert_file": "b", "key_file": "c", "http_ca_file": "d",
            "server_name": "e"}},
    }));
    let config = config.target().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(config.client_id, "one");
    assert_eq!(config.timeout, Duration::from_secs(3));
    assert_eq!(config.silence, Duration::from_secs(4));
    assert_eq!(config.attempts, 5);
    let probes = config.keepalive.unwrap();
    assert_eq!(
        (probes.time, probes.timeout),
        (Duration::from_secs(30), PROBE_TIMEOUT)
    );
    let MaestroSecurity::Tls(tls) = config.security else {
        panic!("TLS is configured");
    };
    assert_eq!(tls.ca, PathBuf::from("a"));
    assert_eq!(tls.identity, Some(("b".into(), "c".into())));
    assert_eq!(tls.http_ca, Some("d".into()));
    assert_eq!(tls.server_name.as_deref(), Some("e"));
}

#[test]
fn what_contradicts_itself_is_refused_and_says_where() {
    let cases = [
        (
            json!({"grpc_server_address": ""}),
            "grpc_server_address: it is missing",
        ),
        (
            json!({"http_server_address": ""}),
            "http_server_address: it is missing",
        ),
        (json!({"source_id": ""}), "source_id: it is missing"),
        (json!({"timeout": "0s"}), "timeout: it must be longer"),
        (
            json!({"keepalive": {"timeout": "1s"}}),
            "keepalive.timeout: without",
        ),
        (
            json!({"auth": {}}),
            "auth.tls_config.ca_file: it is missing",
        ),
        (
            json!({"auth": {"type": "none"}}),
            "auth.type: none is plain text",
        ),
        (
            json!({"insecure": true}),
            "insecure: it is true, but auth.tls_config",
        ),
        (
            json!({"insecure": true, "auth": {"type": "tls"}}),
            "insecure: it is true, but auth.type",
        ),
        (
            json!({"auth": {"tls_config": {"ca_file": "a", "key_file": "b"}}}),
            "cert_file and key_file belong together",
        ),
    ];
    for (keys, told) in cases {
        let Err(error) = client(keys.clone()).target() else {
            panic!("{keys} is accepted");
        };
        assert!(error.starts_with("clients.maestro."), "{error}");
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn where_certificates_lie_is_shown_to_nobody() {
    let client = client(json!({}));
    let shown = format!("{client:?} {}", serde_json::to_string(&client).unwrap());
    assert!(!shown.contains("/certs"), "{shown}");
}

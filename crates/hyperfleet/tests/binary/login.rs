//! Where a token comes from, and to whom it is sent: an issuer and an API that remember what they were asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::running::{hyperfleet, outcome};

/// An issuer and an API in one, on a free port.
struct Servers {
    url: String,
    /// Of every call to the API, its `Authorization`.
    seen: Arc<Mutex<Vec<String>>>,
}

impl Servers {
    fn start() -> Servers {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (own, kept) = (url.clone(), Arc::clone(&seen));
        std::thread::spawn(move || {
            let mut asked = 0;
            for stream in listener.incoming() {
                answer(stream.unwrap(), &own, &kept, &mut asked);
            }
        });
        Servers { url, seen }
    }

    fn seen(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

/// One request, one answer, and the connection is closed.
fn answer(stream: TcpStream, own: &str, seen: &Mutex<Vec<String>>, asked: &mut u32) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut length, mut bearer) = (0, String::new());
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let (name, value) = header.trim_end().split_once(": ").unwrap_or_default();
        match name.to_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "authorization" => bearer.insert_str(0, value),
            "x-hyperfleet-org" => bearer.push_str(&format!(" of {value}")),
            "" => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    let (status, json) = match path.as_str() {
        "/.well-known/openid-configuration" => (
            200,
            json!({
                "device_authorization_endpoint": format!("{own}/device"), "token_endpoint": format!("{own}/token"),
            }),
        ),
        "/device" => {
            assert!(
                body.contains("client_id=cli&scope=openid%20offline_access"),
                "{body}"
            );
            (
                200,
                json!({"device_code": "d", "user_code": "WDJB-MJHT", "verification_uri": format!("{own}/enter"),
                         "expires_in": 60, "interval": 1}),
            )
        }
        "/token" => {
            *asked += 1;
            tokens(&body, *asked)
        }
        _ => {
            seen.lock().unwrap().push(bearer);
            let kinds = json!([{"kind": "Cluster", "plural": "clusters", "singular": "cluster"}]);
            (
                200,
                json!({"version": "x", "kinds": kinds, "items": [], "since": "1"}),
            )
        }
    };
    let text = json.to_string();
    let head = format!(
        "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        text.len()
    );
    let mut stream = reader.into_inner();
    stream.write_all((head + &text).as_bytes()).unwrap();
}

/// The person needs a moment; the first token has ended already when it comes.
fn tokens(body: &str, asked: u32) -> (u16, Value) {
    if body.contains("refresh_token=r1") {
        return (
            200,
            json!({"access_token": "a2", "id_token": "renewed", "expires_in": 3600}),
        );
    }
    match asked {
        1 => (400, json!({"error": "authorization_pending"})),
        _ => (
            200,
            json!({"access_token": "a1", "id_token": "first", "refresh_token": "r1", "expires_in": 0}),
        ),
    }
}

fn command(home: &Path, words: &[&str]) -> Command {
    let mut command = hyperfleet();
    command.args(words);
    for variable in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
        command.env(variable, home);
    }
    command
        .env_remove("HYPERFLEET_SERVER")
        .env_remove("HYPERFLEET_TOKEN");
    command
}

fn run(home: &Path, words: &[&str]) -> (Option<i32>, String) {
    let output = outcome(&mut command(home, words));
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn a_login_gives_a_token_that_is_renewed_and_forgotten() {
    let (servers, home) = (Servers::start(), tempfile::tempdir().unwrap());
    let home = home.path();
    let context = ["config", "set-context", "prod", "--server", &servers.url];
    let login = ["--oidc-issuer", &servers.url, "--oidc-client-id", "cli"];
    assert_eq!(run(home, &[&context[..], &login[..]].concat()).0, Some(0));
    let (code, told) = run(home, &["get", "clusters"]);
    assert_eq!(code, Some(5), "{told}");
    assert!(told.contains("hyperfleet login"), "{told}");

    let (code, told) = run(home, &["login"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(
        told.contains("/enter and enter the code WDJB-MJHT"),
        "{told}"
    );
    assert_eq!(
        servers.seen(),
        Vec::<String>::new(),
        "no token goes to the issuer as one"
    );

    let (code, told) = run(home, &["get", "clusters"]);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(servers.seen(), ["Bearer renewed", "Bearer renewed"]);
    assert_eq!(run(home, &["logout"]).0, Some(0));
    assert_eq!(run(home, &["get", "clusters"]).0, Some(5));
}

#[test]
fn a_token_is_sent_to_the_server_of_its_context_and_to_no_other() {
    let (mine, other) = (Servers::start(), Servers::start());
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let context = ["config", "set-context", "prod", "--server", &mine.url];
    assert_eq!(
        run(
            home,
            &[&context[..], &["--token-exec", "echo", "secret"][..]].concat()
        )
        .0,
        Some(0)
    );
    assert_eq!(run(home, &["get", "clusters"]).0, Some(0));
    assert_eq!(mine.seen(), ["Bearer secret", "Bearer secret"]);
    assert_eq!(
        run(home, &["get", "clusters", "--server", &other.url]).0,
        Some(0)
    );
    assert_eq!(other.seen(), ["", ""]);
    let both = [
        "get",
        "clusters",
        "--server",
        &other.url,
        "--context",
        "prod",
    ];
    assert_eq!(run(home, &both).0, Some(0));
    assert_eq!(other.seen(), ["Bearer secret", "Bearer secret"]);
    let output = outcome(command(home, &["get", "clusters"]).env("HYPERFLEET_TOKEN", "mine"));
    assert!(output.status.success());
    assert_eq!(mine.seen(), ["Bearer mine", "Bearer mine"]);

    let org = [
        "config",
        "set-context",
        "prod",
        "--header",
        "X-HyperFleet-Org: acme",
    ];
    assert_eq!(run(home, &org).0, Some(0));
    assert_eq!(run(home, &["get", "clusters"]).0, Some(0));
    assert_eq!(
        mine.seen(),
        ["Bearer secret of acme", "Bearer secret of acme"]
    );

    let broken = ["config", "set-context", "prod", "--token-exec", "false"];
    assert_eq!(run(home, &broken).0, Some(0));
    let (code, told) = run(home, &["get", "clusters"]);
    assert_eq!(code, Some(5), "{told}");
    assert!(
        told.contains("`false`, which should print the token"),
        "{told}"
    );
}

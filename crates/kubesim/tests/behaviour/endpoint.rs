//! Where a server is and how to get in.

use std::path::PathBuf;

#[derive(Debug, Clone)]
pub struct Endpoint {
    pub server: String,
    pub token: String,
    pub ca: Option<PathBuf>,
}

impl Endpoint {
    pub fn plain(server: &str) -> Endpoint {
        Endpoint { server: server.to_owned(), token: "anything".into(), ca: None }
    }

    /// Reads the three facts out of the kubeconfig that `dev/kubernetes` writes.
    pub fn from_kubeconfig(text: &str) -> Endpoint {
        let value = |key: &str| {
            text.lines()
                .find_map(|line| line.trim().trim_start_matches("- ").strip_prefix(&format!("{key}:")))
                .map(|v| v.trim().trim_matches(['"', '\'']).to_owned())
        };
        Endpoint {
            server: value("server").expect("a server in the kubeconfig"),
            token: value("token").expect("a token in the kubeconfig"),
            ca: value("certificate-authority").map(PathBuf::from),
        }
    }

    pub fn client(&self) -> reqwest::Client {
        let mut builder = reqwest::Client::builder().user_agent("behaviour/1");
        if let Some(path) = &self.ca {
            let pem = std::fs::read(path).expect("the CA file");
            let certificate = reqwest::Certificate::from_pem(&pem).expect("a CA certificate");
            builder = builder.tls_certs_only([certificate]);
        }
        builder.build().expect("an HTTP client")
    }
}

//! Where a server is and how to get in.

use std::path::PathBuf;

#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) server: String,
    pub(crate) token: String,
    pub(crate) ca: Option<PathBuf>,
}

impl Endpoint {
    pub(crate) fn plain(server: &str) -> Endpoint {
        Endpoint {
            server: server.to_owned(),
            token: "anything".into(),
            ca: None,
        }
    }

    /// Reads the three facts out of the kubeconfig that `dev/kubernetes` writes.
    pub(crate) fn from_kubeconfig(text: &str) -> Endpoint {
        let config: serde_json::Value = serde_yaml_ng::from_str(text).expect("a kubeconfig");
        let cluster = &config["clusters"][0]["cluster"];
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        Endpoint {
            server: text(&cluster["server"]).expect("a server in the kubeconfig"),
            token: text(&config["users"][0]["user"]["token"]).expect("a token in the kubeconfig"),
            ca: text(&cluster["certificate-authority"]).map(PathBuf::from),
        }
    }

    pub(crate) fn client(&self) -> reqwest::Client {
        let mut builder = reqwest::Client::builder().user_agent("behaviour/1");
        if let Some(path) = &self.ca {
            let pem = std::fs::read(path).expect("the CA file");
            let certificate = reqwest::Certificate::from_pem(&pem).expect("a CA certificate");
            builder = builder.tls_certs_only([certificate]);
        }
        builder.build().expect("an HTTP client")
    }
}

//! What the transport promises behind TLS.

use std::future::Future;
use std::pin::Pin;

use hyperfleet_transport::{
    MaestroConfig, MaestroError, MaestroSecurity, MaestroTls, MaestroTransport, Mode, Transport,
};

use crate::certificates::Certificates;
use crate::promises::work;

type Promise = for<'c> fn(&'c Certificates) -> Pin<Box<dyn Future<Output = ()> + 'c>>;

pub(crate) fn all() -> Vec<(&'static str, Promise)> {
    vec![
        ("reads_and_events_trust_the_authority", |c| {
            Box::pin(trusted(c))
        }),
        ("a_server_that_wants_to_know_us_does", |c| {
            Box::pin(known(c))
        }),
        ("a_stranger_is_not_believed", |c| Box::pin(stranger(c))),
        ("a_replaced_certificate_is_taken_up", |c| {
            Box::pin(replaced(c))
        }),
        ("an_unusable_file_is_named_by_its_key", |c| {
            Box::pin(unusable(c))
        }),
        ("plain_text_is_refused_where_tls_is_configured", |c| {
            Box::pin(plain(c))
        }),
    ]
}

async fn server(certificates: &Certificates, demanding: bool) -> maestrosim::Server {
    let tls = Some(certificates.server(demanding));
    let server = maestrosim::Server::start(maestrosim::Options { tls }).await;
    let server = server.unwrap();
    server.register("cluster1");
    server
}

fn config(server: &maestrosim::Server, tls: MaestroTls) -> MaestroConfig {
    MaestroConfig {
        security: MaestroSecurity::Tls(tls),
        ..crate::config(server)
    }
}

fn files(certificates: &Certificates) -> MaestroTls {
    MaestroTls {
        ca: certificates.path("ca.crt"),
        identity: None,
        http_ca: None,
        server_name: None,
    }
}

async fn trusted(certificates: &Certificates) {
    let server = server(certificates, false).await;
    let config = config(&server, files(certificates));
    let transport = MaestroTransport::connect(config).await.unwrap();
    let made = transport
        .apply(&work("cluster1", "w", 1), Mode::Commit)
        .await;
    assert_eq!(made.unwrap()["metadata"]["generation"], 1);
}

async fn known(certificates: &Certificates) {
    let server = server(certificates, true).await;
    let reader = maestrosim::Server::start(maestrosim::Options {
        tls: Some(certificates.server(false)),
    });
    // Maestro asks for certificates where events come in, not where it is read.
    let reader = reader.await.unwrap();
    let mut config = config(&server, files(certificates));
    config.http_address = reader.http_address();
    let anonymous = MaestroTransport::connect(config.clone()).await.unwrap();
    let refused = anonymous
        .apply(&work("cluster1", "w", 1), Mode::Commit)
        .await;
    assert_eq!(refused.unwrap_err().reason(), "MaestroUnavailable");
    let identity = (
        certificates.path("client.crt"),
        certificates.path("client.key"),
    );
    config.security = MaestroSecurity::Tls(MaestroTls {
        identity: Some(identity),
        ..files(certificates)
    });
    let transport = MaestroTransport::connect(config).await.unwrap();
    transport
        .apply(&work("cluster1", "w", 1), Mode::Commit)
        .await
        .unwrap();
    assert_eq!(server.bundles().len(), 1);
}

async fn stranger(certificates: &Certificates) {
    let server = server(certificates, false).await;
    let mut tls = files(certificates);
    tls.http_ca = Some(certificates.path("stranger.crt"));
    let refused = MaestroTransport::connect(config(&server, tls)).await;
    assert!(matches!(refused, Err(MaestroError::Unreachable { .. })));
    let mut tls = files(certificates);
    tls.server_name = Some("elsewhere".to_owned());
    let transport = MaestroTransport::connect(config(&server, tls))
        .await
        .unwrap();
    let refused = transport
        .apply(&work("cluster1", "w", 1), Mode::Commit)
        .await;
    assert_eq!(refused.unwrap_err().reason(), "MaestroUnavailable");
}

async fn replaced(certificates: &Certificates) {
    let server = server(certificates, false).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    let put = |name: &str| std::fs::copy(certificates.path(name), file.path()).unwrap();
    put("stranger.crt");
    let mut tls = files(certificates);
    tls.ca = file.path().to_owned();
    let mut config = config(&server, tls);
    config.reread = std::time::Duration::ZERO;
    let transport = MaestroTransport::new(config).unwrap();
    let work = work("cluster1", "w", 1);
    assert!(
        transport
            .apply(&work, Mode::Commit)
            .await
            .unwrap_err()
            .is_outage()
    );
    put("ca.crt");
    transport.apply(&work, Mode::Commit).await.unwrap();
    std::fs::write(file.path(), "nothing").unwrap();
    transport.apply(&work, Mode::Commit).await.unwrap();
}

async fn unusable(certificates: &Certificates) {
    let server = server(certificates, false).await;
    let mut tls = files(certificates);
    tls.http_ca = Some(certificates.path("ca.key"));
    let empty = config(&server, tls);
    let mut tls = files(certificates);
    tls.ca = certificates.path("nothing.crt");
    let missing = config(&server, tls);
    for (config, key) in [(empty, "http_ca_file"), (missing, "ca_file")] {
        let error = MaestroTransport::connect(config)
            .await
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains(&format!("auth.tls_config.{key}")), "{error}");
        let directory = certificates.path("");
        let directory = directory.to_str().unwrap().trim_end_matches('/');
        assert!(!error.contains(directory), "{error}");
    }
}

async fn plain(certificates: &Certificates) {
    let server = server(certificates, false).await;
    let mut config = config(&server, files(certificates));
    config.http_address = config.http_address.replace("https", "http");
    let error = MaestroTransport::connect(config).await.err().unwrap();
    assert!(error.to_string().contains("must be https"), "{error}");
}

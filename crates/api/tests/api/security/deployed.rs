//! The configuration that is shipped for clusters.

use std::path::{Path, PathBuf};

use hyperfleet_api::{ApiConfig, Entities, Security};
use hyperfleet_runtime::config::Loader;

fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/api-config.yaml")
}

#[test]
fn the_shipped_configuration_lets_each_component_do_what_it_needs() {
    let loaded = Loader::new("api").file(Some(shipped())).load::<ApiConfig>();
    let mut loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
    // Only a pod has the certificate that Kubernetes gives it.
    for issuer in &mut loaded.value.server.jwt.configs {
        issuer.jwk_cert_ca_file = None;
    }
    let entities = Entities::load(&loaded).unwrap_or_else(|error| panic!("{error}"));
    let made = Security::new(&loaded.value, &entities.kinds, Path::new(""));
    made.unwrap_or_else(|error| panic!("{error}"));
    let roles: Vec<&str> = loaded
        .value
        .authorization
        .bindings
        .iter()
        .map(|bound| bound.role.as_str())
        .collect();
    assert_eq!(
        roles,
        [
            "admin", "operator", "viewer", "sentinel", "sweeper", "adapter"
        ]
    );
}

use hyperfleet_core::kind::Kind;
use hyperfleet_runtime::metrics::{Build, MetricsRegistry};

use super::*;

struct Watched {
    directory: tempfile::TempDir,
    rules: RulesInForce,
    reload: Reload,
    health: Health,
}

impl Watched {
    fn new() -> Watched {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("aggregation.yaml");
        std::fs::write(&path, "requiredAdapters: [dns]").unwrap();
        let file = RulesFile::new(path, &Kind::defaults());
        let (rules, _) = file.load().unwrap();
        let build = Build {
            version: "test".into(),
            commit: String::new(),
        };
        let metrics = MetricsRegistry::new(build).unwrap();
        let metrics = metrics.component("api", "api").unwrap();
        let health = Health::new();
        let reload = Reload::new(&rules, &metrics, &health).unwrap().unwrap();
        Watched {
            directory,
            rules,
            reload,
            health,
        }
    }

    fn write(&mut self, text: &str) {
        std::fs::write(self.directory.path().join("aggregation.yaml"), text).unwrap();
        self.reload.look();
    }

    fn required(&self) -> Vec<String> {
        let book = self.rules.now();
        let required = book.rules("Cluster").required();
        required.iter().map(ToString::to_string).collect()
    }

    async fn note(&self) -> String {
        self.health.started();
        let readiness = self.health.readiness().await;
        assert!(readiness.is_ready());
        readiness.notes["aggregation"].clone()
    }
}

#[tokio::test]
async fn new_rules_are_in_force_as_soon_as_they_are_seen() {
    let mut watched = Watched::new();
    let before = watched.rules.fingerprint();
    assert_eq!(watched.required(), ["dns"]);
    watched.write("requiredAdapters: [dns, validation]");
    assert_eq!(watched.required(), ["dns", "validation"]);
    assert_ne!(watched.rules.fingerprint(), before);
    assert_eq!(watched.note().await, "ok");
}

#[tokio::test]
async fn a_bad_file_leaves_the_old_rules_in_force_and_says_so_until_it_is_good() {
    let mut watched = Watched::new();
    watched.write("requiredAdapter: [validation]");
    assert_eq!(watched.required(), ["dns"]);
    assert_eq!(watched.reload.valid.get(), 0);
    let note = watched.note().await;
    assert!(
        note.starts_with("older rules are in force: ") && note.contains("did you mean"),
        "{note}"
    );
    std::fs::remove_file(watched.directory.path().join("aggregation.yaml")).unwrap();
    watched.reload.look();
    assert_eq!(watched.required(), ["dns"]);
    assert!(watched.note().await.contains("cannot read"));

    watched.write("requiredAdapters: [validation]");
    assert_eq!(watched.required(), ["validation"]);
    assert_eq!(watched.reload.valid.get(), 1);
    assert_eq!(watched.note().await, "ok");
}

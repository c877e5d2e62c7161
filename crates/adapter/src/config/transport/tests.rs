use std::path::Path;

use hyperfleet_source::SourceFile;

use crate::config::{self, Deployment, LoadError, parse_task};

const MAESTRO: &str = "transport: {client: maestro, maestro: {target_cluster: east}}";

/// A work with these keys beside its manifest.
fn work(keys: &str) -> String {
    format!(
        "resources:\n  - name: work\n    {keys}\n    manifest: {{apiVersion: work.open-cluster-management.io/v1, kind: \
         ManifestWork, metadata: {{name: w}}, spec: {{workload: {{manifests: []}}}}}}\n"
    )
}

/// Everything that is told about a file.
fn told(text: &str) -> String {
    match parse_task(&SourceFile::new("task.yaml", text), Path::new("task.yaml")) {
        Ok((_, remarks)) => remarks.iter().map(|one| format!("{one}\n")).collect(),
        Err(found) => format!("refused: {found}"),
    }
}

#[test]
fn what_a_work_cannot_have_is_refused_where_it_stands() {
    let when = "when: {expression: 'true'}";
    let cases = [
        (
            work("transport: {client: maestro}"),
            "needs `maestro.target_cluster`",
        ),
        (
            work("transport: {client: maestro, maestro: {}}"),
            "target_cluster",
        ),
        (work("transport: {client: mæstro}"), "maestro"),
        (
            work("transport: {client: maestro, maestro: {target_cluster: \"{{ .nobody }}\"}}"),
            "nothing is named `nobody`",
        ),
        (
            work(MAESTRO).replace("kind: ManifestWork", "kind: Job"),
            "Maestro takes ManifestWork",
        ),
        (
            work(&format!(
                "{MAESTRO}\n    lifecycle: {{delete: {{{when}, propagationPolicy: Orphan}}}}"
            )),
            "would delete the objects all the same",
        ),
        (
            format!(
                "{}  - name: child\n    owner: {{resource: work}}\n    manifest: {{apiVersion: v1, kind: ConfigMap, \
                 metadata: {{name: c, namespace: d}}}}\n",
                work(MAESTRO)
            ),
            "is kept by Maestro",
        ),
        (
            format!(
                "{}{}",
                "resources:\n  - name: parent\n    manifest: {apiVersion: v1, kind: Namespace, metadata: {name: c}}\n",
                work(&format!("{MAESTRO}\n    owner: {{resource: parent}}"))
                    .replace("resources:\n", "")
            ),
            "a work has no owner",
        ),
    ];
    for (text, wanted) in cases {
        let told = told(&text);
        assert!(told.starts_with("refused: "), "{text}\n{told}");
        assert!(told.contains(wanted), "{text}\n{told}");
    }
}

#[test]
fn what_a_work_has_no_use_for_is_told() {
    let when = "when: {expression: 'true'}";
    let text = work(&format!(
        "{MAESTRO}\n    discovery: {{namespace: x, by_name: w}}\n    lifecycle: {{delete: {{{when}, propagationPolicy: \
         Foreground}}}}"
    ));
    let told = told(&text);
    assert!(
        told.contains("looked for in its `target_cluster`"),
        "{told}"
    );
    assert!(told.contains("its `spec.deleteOption`"), "{told}");
    let kubernetes = work("transport: {client: kubernetes, maestro: {target_cluster: east}}");
    assert!(self::told(&kubernetes).contains("the objects go to Kubernetes"));
}

#[test]
fn a_work_needs_a_maestro_in_the_deployment() {
    let text = work(MAESTRO);
    let (task, _) =
        parse_task(&SourceFile::new("t", text), Path::new("t")).unwrap_or_else(|e| panic!("{e}"));
    let mut deployment = Deployment::default();
    let error = config::check_together(&deployment, &task).unwrap_err();
    assert!(matches!(error, LoadError::Invalid(_)));
    assert!(
        error
            .to_string()
            .contains("resource `work` goes to Maestro"),
        "{error}"
    );
    deployment.clients.maestro.source_id = "hyperfleet".to_owned();
    assert!(config::check_together(&deployment, &task).is_ok());
}

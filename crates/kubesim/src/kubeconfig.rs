//! The kubeconfig that points clients at a server.

/// There is nobody to authenticate: any token is accepted, and this one keeps clients from asking for a password.
pub(crate) const TOKEN: &str = "kubesim";

pub(crate) fn kubeconfig(url: &str) -> String {
    format!(
        "apiVersion: v1\n\
         kind: Config\n\
         clusters:\n\
         - name: kubesim\n  \
           cluster:\n    \
             server: {url}\n\
         users:\n\
         - name: kubesim\n  \
           user:\n    \
             token: {TOKEN}\n\
         contexts:\n\
         - name: kubesim\n  \
           context:\n    \
             cluster: kubesim\n    \
             user: kubesim\n    \
             namespace: default\n\
         current-context: kubesim\n"
    )
}

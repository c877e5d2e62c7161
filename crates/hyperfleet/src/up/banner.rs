//! What was started, where, and what to try next.

use std::net::SocketAddr;

use hyperfleet_core::resource::BASE_PATH;

/// Everything worth knowing about a running system.
pub(crate) struct Banner<'a> {
    pub(crate) base_url: &'a str,
    pub(crate) health: SocketAddr,
    pub(crate) metrics: SocketAddr,
    pub(crate) database: String,
    /// `None` for the one in this process.
    pub(crate) broker: Option<String>,
    pub(crate) kubernetes: String,
    pub(crate) adapters: &'a [String],
}

impl Banner<'_> {
    pub(crate) fn print(&self) {
        println!("HyperFleet is up.");
        println!(
            "AUTHENTICATION IS OFF: everybody on this machine may do everything; nobody else can reach it.\n"
        );
        let rows = [
            ("API", format!("{}{BASE_PATH}", self.base_url)),
            ("health", format!("http://{}/readyz", self.health)),
            ("metrics", format!("http://{}/metrics", self.metrics)),
            ("database", self.database.clone()),
            (
                "broker",
                self.broker
                    .clone()
                    .unwrap_or_else(|| "in this process".to_owned()),
            ),
            ("kubernetes", self.kubernetes.clone()),
            ("adapters", self.adapters.join(", ")),
        ];
        for (what, place) in rows {
            println!("  {what:<11} {place}");
        }
        println!();
    }
}

/// Printed last, so that it is what one sees.
pub(crate) fn next_steps(base_url: &str) {
    let clusters = format!("{base_url}{BASE_PATH}/clusters");
    println!("Try, in another terminal:\n");
    println!("  curl -s {clusters}");
    println!(
        "  curl -s {clusters} -d '{{\"kind\":\"Cluster\",\"name\":\"mine\",\"spec\":{{\"region\":\"eu-west-1\"}}}}'"
    );
    println!("\nCtrl-C stops everything; what was created is there at the next start.");
}

//! Figures for people, or for programs.

use std::io::Write as _;

use anyhow::Result;

use super::Figures;
use crate::cli::Format;

pub(super) fn figures(figures: &Figures) -> Result<()> {
    let text = match figures.flags.output {
        Format::Json => serde_json::to_string_pretty(figures)? + "\n",
        Format::Text => text(figures),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

fn text(figures: &Figures) -> String {
    let Figures {
        flags, idle, due, ..
    } = figures;
    format!(
        "fleet      {} clusters, {}\n\
         machine    {} cores; load {:.1} before, {:.1} after (one-minute average)\n\
         start      {:.2} s until the whole fleet is known\n\
         memory     {:.0} MiB, {:.0} bytes per cluster\n\
         idle       Sentinel {:.2} % of a core, API {:.2} %, PostgreSQL {:.2} %\n\
         \u{20}          {:.2} requests per second to the API, {:.1} transactions per second in the database\n\
         change     {}\n\
         due        {} of {} events in {:.2} s: {:.0} per second\n",
        flags.clusters,
        match flags.mode {
            crate::cli::Mode::Feed => "following the change feed",
            crate::cli::Mode::Poll => "reading the list every 5 s",
        },
        figures.cores,
        figures.load_before,
        figures.load_after,
        figures.start_seconds,
        figures.rss_mib,
        figures.bytes_per_resource,
        idle.sentinel_cpu_percent,
        idle.api_cpu_percent,
        idle.postgres_cpu_percent,
        idle.api_requests_per_second,
        idle.database_transactions_per_second,
        figures.changes.line(),
        due.heard,
        due.resources,
        due.seconds,
        due.per_second,
    )
}

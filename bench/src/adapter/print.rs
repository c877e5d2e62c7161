//! Figures for people, or for programs.

use std::io::Write as _;

use anyhow::Result;

use super::Figures;
use crate::cli::{Format, Target};

pub(super) fn figures(figures: &Figures) -> Result<()> {
    let text = match figures.flags.output {
        Format::Json => serde_json::to_string_pretty(figures)? + "\n",
        Format::Text => text(figures),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

fn text(figures: &Figures) -> String {
    let mut text = format!(
        "machine    {} cores; load {:.1} before, {:.1} after (one-minute average)\n\
         events     {} that create three objects, then {} that find them, for each line\n\n\
         {:<11}{:>8}{:>10}{:>9}{:>10}{:>9}{:>9}{:>11}{:>7}{:>7}{:>12}\n",
        figures.cores,
        figures.load_before,
        figures.load_after,
        figures.flags.clusters,
        figures.flags.events,
        "target",
        "workers",
        "create/s",
        "p99 ms",
        "found/s",
        "p50 ms",
        "p99 ms",
        "cpu µs/ev",
        "api/ev",
        "k8s/ev",
        "MiB own/all",
    );
    for row in &figures.rows {
        text.push_str(&format!(
            "{:<11}{:>8}{:>10.0}{:>9.1}{:>10.0}{:>9.1}{:>9.1}{:>11.0}{:>7.2}{:>7.2}{:>7.0}/{:<4.0}\n",
            name(row.target),
            row.workers,
            row.create.per_second,
            row.create.p99_ms,
            row.converged.per_second,
            row.converged.p50_ms,
            row.converged.p99_ms,
            row.cpu_micros_per_event,
            row.api_requests_per_event,
            row.kubernetes_requests_per_event,
            row.own_mib,
            row.rss_mib,
        ));
    }
    text.push_str(&format!(
        "\nbacklog    {} events about these clusters, sent while the adapter was away\n\n\
         {:<11}{:>8}{:>10}{:>11}{:>9}{:>12}\n",
        figures.flags.backlog, "target", "workers", "seconds", "events/s", "looks", "MiB own/all",
    ));
    for row in &figures.rows {
        let backlog = &row.backlog;
        text.push_str(&format!(
            "{:<11}{:>8}{:>10.1}{:>11.0}{:>9}{:>7.0}/{:<4.0}\n",
            name(row.target),
            row.workers,
            backlog.seconds,
            f64::from(figures.flags.backlog) / backlog.seconds,
            backlog.looks,
            backlog.own_mib,
            backlog.rss_mib,
        ));
    }
    text
}

fn name(target: Target) -> &'static str {
    match target {
        Target::Kubesim => "kubesim",
        Target::Kubernetes => "kubernetes",
    }
}

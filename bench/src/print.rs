//! Figures for people, or for programs.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::Result;

use crate::cli::Format;
use crate::figures::Figures;
use crate::run::Measured;

pub(crate) fn measured(measured: &Measured, address: &str) -> Result<()> {
    let text = match measured.flags.output {
        Format::Text => table(measured, address)?,
        Format::Json => serde_json::to_string_pretty(measured)? + "\n",
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

fn table(measured: &Measured, address: &str) -> Result<String> {
    let (flags, machine) = (&measured.flags, &measured.machine);
    let mut text = String::new();
    writeln!(
        text,
        "server     {} at {address}, {}",
        machine.server_version,
        machine
            .postgres_version
            .as_deref()
            .unwrap_or("PostgreSQL unknown")
    )?;
    writeln!(
        text,
        "machine    {} cores ({}), {:.0} GiB, Linux {}; server, PostgreSQL and generator share it if all run here",
        machine.cores, machine.processor, machine.memory_gib, machine.kernel
    )?;
    writeln!(
        text,
        "load       {:.1} before, {:.1} after (one-minute average)",
        machine.load_before, machine.load_after
    )?;
    writeln!(
        text,
        "method     closed loop, {} connections kept open, {} each after a tenth of that to warm up; \
         {} clusters; an answer counts when its last byte is read\n",
        flags.concurrency, flags.duration, flags.clusters
    )?;
    writeln!(
        text,
        "{:<18}{:>9}{:>9}{:>9}{:>9}{:>9}  {:>21}  {:>13}  answers",
        "scenario", "per s", "p50 ms", "p99 ms", "p99.9", "max", "cpu s api/pg/gen", "MiB api/pg"
    )?;
    for figures in &measured.scenarios {
        line(&mut text, figures)?;
    }
    text.push('\n');
    for figures in &measured.scenarios {
        writeln!(text, "{:<18}{}", figures.name, figures.method)?;
    }
    Ok(text)
}

fn line(text: &mut String, figures: &Figures) -> Result<()> {
    let spent = &figures.spent;
    let one = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.1}"));
    let whole = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.0}"));
    let cpu = format!(
        "{}/{}/{}",
        one(spent.server_cpu_seconds),
        one(spent.postgres_cpu_seconds),
        one(spent.generator_cpu_seconds)
    );
    let memory = format!(
        "{}/{}",
        whole(spent.server_rss_mib),
        whole(spent.postgres_rss_mib)
    );
    let answers: Vec<String> = figures
        .outcomes
        .iter()
        .map(|(outcome, count)| format!("{outcome}: {count}"))
        .collect();
    writeln!(
        text,
        "{:<18}{:>9.0}{:>9.2}{:>9.2}{:>9.2}{:>9.1}  {cpu:>21}  {memory:>13}  {}",
        figures.name,
        figures.per_second,
        figures.p50_ms,
        figures.p99_ms,
        figures.p999_ms,
        figures.max_ms,
        answers.join(", ")
    )?;
    Ok(())
}

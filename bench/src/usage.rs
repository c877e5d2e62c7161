//! What processes take, from /proc.

use std::collections::HashMap;
use std::fs;

use serde::Serialize;

/// The kernel's unit of process times. It is 100 on every Linux that Rust runs on.
const TICKS_PER_SECOND: f64 = 100.0;

/// The processes whose use is told.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Watched {
    pub(crate) server: Option<u32>,
    pub(crate) postgres: Option<u32>,
}

/// Processor time so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    watched: Watched,
    server: Option<f64>,
    postgres: Option<f64>,
    generator: Option<f64>,
}

/// What a scenario took; nothing where nobody was watched.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Spent {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server_cpu_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) postgres_cpu_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) generator_cpu_seconds: Option<f64>,
    /// Resident at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server_rss_mib: Option<f64>,
    /// Of that its own: not pages of the program's file, which all its processes share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server_own_mib: Option<f64>,
    /// All its processes, with shared pages counted once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) postgres_rss_mib: Option<f64>,
}

impl Watched {
    pub(crate) fn read(self) -> Reading {
        Reading {
            watched: self,
            server: self.server.and_then(|pid| cpu(pid, false)),
            postgres: self.postgres.and_then(family_cpu),
            generator: cpu(std::process::id(), false),
        }
    }
}

impl Reading {
    /// What was taken since.
    pub(crate) fn spent(&self) -> Spent {
        let now = self.watched.read();
        let since = |before: Option<f64>, now: Option<f64>| Some(now? - before?);
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        Spent {
            server_cpu_seconds: since(self.server, now.server),
            postgres_cpu_seconds: since(self.postgres, now.postgres),
            generator_cpu_seconds: since(self.generator, now.generator),
            server_rss_mib: self.watched.server.and_then(rss).map(mib),
            server_own_mib: self.watched.server.and_then(own).map(mib),
            postgres_rss_mib: self.watched.postgres.map(family_rss).map(mib),
        }
    }
}

/// Seconds of processor time; with those of children that ended, if asked for.
fn cpu(pid: u32, ended_children: bool) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let ticks: Vec<u64> = fields(&stat)?
        .skip(11)
        .take(if ended_children { 4 } else { 2 })
        .map(|field| field.parse().unwrap_or(0))
        .collect();
    Some(ticks.iter().sum::<u64>() as f64 / TICKS_PER_SECOND)
}

/// The fields of a stat line after the name, which may hold anything: state is the first, then the parent.
fn fields(stat: &str) -> Option<impl Iterator<Item = &str>> {
    stat.rsplit_once(')')
        .map(|(_, rest)| rest.split_whitespace())
}

/// A server that forks: the first process, its children, and those that came and went.
fn family_cpu(pid: u32) -> Option<f64> {
    let children: f64 = children(pid)
        .iter()
        .filter_map(|child| cpu(*child, false))
        .sum();
    Some(cpu(pid, true)? + children)
}

fn family_rss(pid: u32) -> u64 {
    children(pid)
        .into_iter()
        .chain([pid])
        .filter_map(|pid| proportional(pid).or_else(|| rss(pid)))
        .sum()
}

fn rss(pid: u32) -> Option<u64> {
    kibibytes(&format!("/proc/{pid}/status"), "VmRSS:")
}

fn own(pid: u32) -> Option<u64> {
    kibibytes(&format!("/proc/{pid}/status"), "RssAnon:")
}

/// The process's share: a page of n processes counts as an nth.
fn proportional(pid: u32) -> Option<u64> {
    kibibytes(&format!("/proc/{pid}/smaps_rollup"), "Pss:")
}

fn kibibytes(file: &str, label: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(label))?;
    let number: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(number * 1024)
}

fn children(pid: u32) -> Vec<u32> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let parents: HashMap<u32, u32> = processes
        .flatten()
        .filter_map(|process| {
            let child: u32 = process.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(process.path().join("stat")).ok()?;
            Some((child, fields(&stat)?.nth(1)?.parse().ok()?))
        })
        .collect();
    let of_pid = parents.iter().filter(|(_, parent)| **parent == pid);
    of_pid.map(|(child, _)| *child).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_found_with_its_memory_and_its_children() {
        let me = std::process::id();
        assert!(rss(me).is_some_and(|bytes| bytes > 1 << 16));
        assert!(cpu(me, true).is_some());
        let child = std::process::Command::new("sleep").arg("60").spawn();
        let mut child = child.expect("sleep runs");
        let found = children(me);
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        assert!(found.contains(&child.id()));
    }

    #[test]
    fn a_name_with_blanks_and_brackets_does_not_shift_the_fields() {
        let stat = "7 (a b) c) S 3 7 7 0 -1 0 1 0 2 0 150 50 9 9 20 0";
        assert_eq!(fields(stat).and_then(|mut f| f.nth(1)), Some("3"));
    }
}

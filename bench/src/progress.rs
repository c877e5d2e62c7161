//! How far long preparations are, on stderr.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct Progress {
    what: &'static str,
    of: u32,
    done: u32,
    started: Instant,
    told: Instant,
    /// A terminal's line is written over; a file gets a line now and then.
    every: Duration,
}

impl Progress {
    pub(crate) fn new(what: &'static str, of: u32) -> Progress {
        let seconds = if std::io::stderr().is_terminal() {
            1
        } else {
            10
        };
        Progress {
            what,
            of,
            done: 0,
            started: Instant::now(),
            told: Instant::now(),
            every: Duration::from_secs(seconds),
        }
    }

    pub(crate) fn step(&mut self) {
        self.done += 1;
        if self.done == self.of || self.told.elapsed() >= self.every {
            self.told = Instant::now();
            self.tell();
        }
    }

    fn tell(&self) {
        let mut stderr = std::io::stderr().lock();
        let (what, done, of) = (self.what, self.done, self.of);
        let seconds = self.started.elapsed().as_secs_f64();
        let terminal = stderr.is_terminal();
        let (begin, end) = match (terminal, done == of) {
            (true, false) => ("\r", ""),
            (true, true) => ("\r", "\n"),
            (false, _) => ("", "\n"),
        };
        // Progress that cannot be shown is no reason to stop.
        let _ = write!(stderr, "{begin}{what}: {done} of {of}, {seconds:.0} s{end}");
        let _ = stderr.flush();
    }
}

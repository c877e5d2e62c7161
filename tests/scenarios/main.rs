//! What the whole system promises, on a simulated Kubernetes and on real servers.
//!
//! The two stacks run beside each other. Scenarios of one run one after the other: some of them take its parts away. The
//! last one checks the history of all that happened. Where the servers cannot be had, the real ones are ignored, and why
//! is said.
//!
//! Killing parts of the real stack takes minutes; that runs with `make scenarios`, and is ignored without it.

mod deleting;
mod failing;
mod faults;
mod mixed;
mod provisioning;
mod replicas;
mod wire;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use e2e::real::Pace;
use e2e::stack::Stack;
use e2e::{history, servers};
use libtest_mimic::{Arguments, Failed, Trial};
use tokio::sync::Mutex;

/// Set by `make scenarios`.
const ALL: &str = "HYPERFLEET_ALL_SCENARIOS";

type Scenario = (&'static str, fn(&Stack) -> Result<()>);

/// Named functions, in the order in which they run.
#[macro_export]
macro_rules! scenarios {
    ($($name:ident),+ $(,)?) => {
        pub(crate) fn all() -> Vec<$crate::Scenario> {
            vec![$((stringify!($name), $name as fn(&e2e::stack::Stack) -> anyhow::Result<()>)),+]
        }
    };
}

/// On both stacks.
fn everywhere() -> Vec<Scenario> {
    [
        provisioning::all(),
        failing::all(),
        deleting::all(),
        wire::all(),
    ]
    .concat()
}

/// A stack that the first scenario on it starts.
struct Lazy {
    name: &'static str,
    start: fn() -> Result<Stack>,
    /// Whoever waits for it gets it in the order of asking, so scenarios keep their order.
    started: Mutex<Option<Result<Stack, String>>>,
}

impl Lazy {
    /// Runs a scenario once those before it are done.
    fn run(&self, scenario: fn(&Stack) -> Result<()>) -> Result<(), Failed> {
        let mut started = self.started.blocking_lock();
        let stack = started.get_or_insert_with(|| {
            let begun = Instant::now();
            let stack = (self.start)().map_err(|error| format!("{error:#}"))?;
            let took = begun.elapsed().as_secs_f64();
            eprintln!("the {} stack started in {took:.1} s", self.name);
            Ok(stack)
        });
        let stack = stack.as_ref().map_err(Failed::from)?;
        scenario(stack).map_err(|error| Failed::from(format!("{error:#}")))
    }
}

fn trials(on: &Arc<Lazy>, scenarios: Vec<Scenario>, ignored: bool) -> Vec<Trial> {
    let trial = |(name, scenario): Scenario| {
        let on = Arc::clone(on);
        let name = format!("{}::{name}", on.name);
        Trial::test(name, move || on.run(scenario)).with_ignored_flag(ignored)
    };
    scenarios.into_iter().map(trial).collect()
}

/// One of each in turn, so that two threads find work on both stacks.
fn in_turn(first: Vec<Trial>, second: Vec<Trial>) -> Vec<Trial> {
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut all = Vec::new();
    loop {
        let before = all.len();
        all.extend(first.next().into_iter().chain(second.next()));
        if all.len() == before {
            return all;
        }
    }
}

fn the_history_of_all_this_is_in_order(stack: &Stack) -> Result<()> {
    let told = history::check(stack)?;
    eprintln!("history: {told}");
    Ok(())
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // A filter usually means one stack, and two threads could begin with its first two scenarios in either order.
    arguments.test_threads = Some(if arguments.filter.is_some() { 1 } else { 2 });
    let unavailable = servers::unavailable();
    if let Some(reason) = &unavailable {
        eprintln!("skipped: the whole system on real servers: {reason}");
    }
    let checked: Scenario = (
        "the_history_of_all_this_is_in_order",
        the_history_of_all_this_is_in_order,
    );
    let lazy = |name, start: fn() -> Result<Stack>| {
        Arc::new(Lazy {
            name,
            start,
            started: Mutex::new(None),
        })
    };
    let fast = lazy("fast", Stack::fast);
    let real = lazy("real", || Stack::real(Pace::BRISK));
    let quick = std::env::var_os(ALL).is_none();
    if quick {
        eprintln!("skipped: killed parts of the real stack; `make scenarios` tries them");
    }
    let on_fast = [everywhere(), faults::of_all_at_once(), vec![checked]].concat();
    let at_length = [faults::all(), replicas::all()].concat();
    let no_real = unavailable.is_some();
    let on_real = [everywhere(), mixed::all()].concat();
    let on_fast = trials(&fast, on_fast, false);
    let mut on_real = trials(&real, on_real, no_real);
    on_real.extend(trials(&real, at_length, no_real || quick));
    on_real.extend(trials(&real, vec![checked], no_real));
    let conclusion = libtest_mimic::run(&arguments, in_turn(on_real, on_fast));
    drop((fast, real));
    conclusion.exit_code()
}

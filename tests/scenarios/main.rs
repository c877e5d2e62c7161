//! What the whole system promises, on a simulated Kubernetes and on real servers.
//!
//! Scenarios of one stack run one after the other: some of them take its parts away. The last one checks the history of
//! all that happened. Where the servers cannot be had, the real ones are ignored, and why is said.
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
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::Result;
use e2e::real::Pace;
use e2e::stack::Stack;
use e2e::{history, servers};
use libtest_mimic::{Arguments, Failed, Trial};

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
    start: fn() -> Result<Stack>,
    started: Mutex<Option<Result<Arc<Stack>, String>>>,
}

impl Lazy {
    fn get(&self) -> Result<Arc<Stack>, Failed> {
        let mut started = self.started.lock().unwrap_or_else(|held| held.into_inner());
        let stack = started.get_or_insert_with(|| {
            let begun = Instant::now();
            let stack = (self.start)().map_err(|error| format!("{error:#}"))?;
            eprintln!("started in {:.1} s", begun.elapsed().as_secs_f64());
            Ok(Arc::new(stack))
        });
        stack.clone().map_err(Failed::from)
    }
}

fn trials(stack: &str, on: &Arc<Lazy>, scenarios: Vec<Scenario>, ignored: bool) -> Vec<Trial> {
    let trial = |(name, run): Scenario| {
        let on = Arc::clone(on);
        let trial = Trial::test(format!("{stack}::{name}"), move || {
            let stack = on.get()?;
            run(&stack).map_err(|error| Failed::from(format!("{error:#}")))
        });
        trial.with_ignored_flag(ignored)
    };
    scenarios.into_iter().map(trial).collect()
}

fn the_history_of_all_this_is_in_order(stack: &Stack) -> Result<()> {
    let told = history::check(stack)?;
    eprintln!("history: {told}");
    Ok(())
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let unavailable = servers::unavailable();
    if let Some(reason) = &unavailable {
        eprintln!("skipped: the whole system on real servers: {reason}");
    }
    let checked: Scenario = (
        "the_history_of_all_this_is_in_order",
        the_history_of_all_this_is_in_order,
    );
    let lazy = |start: fn() -> Result<Stack>| {
        Arc::new(Lazy {
            start,
            started: Mutex::new(None),
        })
    };
    let (fast, real) = (lazy(Stack::fast), lazy(|| Stack::real(Pace::BRISK)));
    let quick = std::env::var_os(ALL).is_none();
    if quick {
        eprintln!("skipped: killed parts of the real stack; `make scenarios` tries them");
    }
    let on_fast = [everywhere(), faults::of_all_at_once(), vec![checked]].concat();
    let at_length = [faults::all(), replicas::all()].concat();
    let no_real = unavailable.is_some();
    let mut all = trials("fast", &fast, on_fast, false);
    let on_real = [everywhere(), mixed::all()].concat();
    all.extend(trials("real", &real, on_real, no_real));
    all.extend(trials("real", &real, at_length, no_real || quick));
    all.extend(trials("real", &real, vec![checked], no_real));
    let conclusion = libtest_mimic::run(&arguments, all);
    drop((fast, real));
    conclusion.exit_code()
}

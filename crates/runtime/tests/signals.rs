//! What SIGTERM does to a process, seen from outside: this test starts itself again as a child.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use hyperfleet_runtime::shutdown::{Shutdown, on_signals};

type Anything = Box<dyn std::error::Error + Send + Sync>;

const MARK: &str = "RUNTIME_TEST_CHILD";

/// The child: says when it listens, when it is told to stop, and then never stops.
#[tokio::test]
async fn child_that_hangs() -> Result<(), Anything> {
    if std::env::var_os(MARK).is_none() {
        return Ok(());
    }
    let shutdown = Shutdown::new();
    on_signals(&shutdown)?;
    println!("\nlistening");
    shutdown.requested().await;
    println!("\nstopping");
    std::future::pending().await
}

fn terminate(child: &Child) -> Result<(), Anything> {
    let sent = Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status()?;
    assert!(sent.success());
    Ok(())
}

fn wait_for(
    lines: &mut impl Iterator<Item = std::io::Result<String>>,
    word: &str,
) -> Result<(), Anything> {
    for line in lines {
        if line? == word {
            return Ok(());
        }
    }
    Err(format!("the child ended without saying `{word}`").into())
}

#[test]
fn the_first_signal_asks_and_the_second_ends_the_process_with_code_1() -> Result<(), Anything> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["child_that_hangs", "--exact", "--nocapture"])
        .env(MARK, "1")
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take().ok_or("the output is piped")?;
    let mut lines = BufReader::new(output).lines();
    wait_for(&mut lines, "listening")?;
    terminate(&child)?;
    wait_for(&mut lines, "stopping")?;
    terminate(&child)?;
    assert_eq!(child.wait()?.code(), Some(1));
    Ok(())
}

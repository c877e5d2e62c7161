//! A server by itself: `cargo run -p kubesim --example kubesim -- [ADDRESS] [STATE_FILE]`.
//!
//! Prints a kubeconfig on stdout and serves until interrupted.

use kubesim::{Options, Server};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut options = Options::default();
    if let Some(address) = arguments.next() {
        options.listen = address.parse()?;
    }
    options.state_file = arguments.next().map(Into::into);
    let server = Server::start(options).await?;
    print!("{}", server.kubeconfig());
    eprintln!("kubesim serves on {}; press Ctrl-C to stop", server.url());
    tokio::signal::ctrl_c().await?;
    server.shutdown().await;
    Ok(())
}

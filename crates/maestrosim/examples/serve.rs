//! A stand-in for Maestro to try things on: prints where it listens, and stops when its input ends.
//!
//! ```text
//! cargo run -p maestrosim --example serve
//! ```

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let server = maestrosim::Server::start(maestrosim::Options::default()).await?;
    println!("HYPERFLEET_TEST_MAESTRO_GRPC={}", server.grpc_address());
    println!("HYPERFLEET_TEST_MAESTRO_HTTP={}", server.http_address());
    let ended = tokio::task::spawn_blocking(|| std::io::read_to_string(std::io::stdin()));
    ended.await?.map(drop)
}

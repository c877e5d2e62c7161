//! What an adapter promises, against kubesim, an API made for the test, and the memory broker.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, helpers too")]

mod arbitrary;
mod attacks;
mod deleting;
mod examples;
mod failing;
mod held;
mod interrupted;
mod lifecycle;
mod lifecycle_on_kubesim;
mod maestro;
mod previewing;
mod reporting;
mod resources;
mod sequences;
mod serving;
mod shipped;
mod surviving;
mod world;

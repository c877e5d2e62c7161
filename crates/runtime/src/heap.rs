//! The allocator of programs whose heap can be profiled.
//!
//! A heap profile needs an allocator that samples. It is not the one of usual builds, which is smaller and as fast; it is
//! in builds with the feature `heap-profiling`, and samples only if `metrics.profiling` asks for it.

pub use tikv_jemallocator::Jemalloc as Allocator;

/// To be put at `#[global_allocator]`.
pub const ALLOCATOR: Allocator = Allocator;

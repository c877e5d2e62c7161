//! A page of anything.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One page of a list, counted in pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Page<T> {
    /// The page asked for, from 1.
    pub page: u32,
    /// How many items this page holds, not how many were asked for.
    pub size: u32,
    /// How many items there are on all pages.
    pub total: u64,
    pub items: Vec<T>,
}

/// Which page is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    pub page: u32,
    pub size: u32,
}

impl PageRequest {
    pub const MAX_PAGE: u32 = 100_000;
    pub const MAX_SIZE: u32 = 100;

    pub fn offset(self) -> i64 {
        i64::from(self.page.saturating_sub(1)) * i64::from(self.size)
    }
}

impl Default for PageRequest {
    fn default() -> Self {
        PageRequest { page: 1, size: 20 }
    }
}

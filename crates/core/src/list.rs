//! Lists: which part of one is wanted, in which order, and what is answered.

mod keyset;
mod order;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use keyset::{Key, KeysetColumn, KeysetOrder, Mark};
pub use order::{Direction, Order, OrderError};

use crate::resource::WrittenResource;

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

/// One stretch of a list that is walked from mark to mark. Unlike pages that are counted, no item is met twice or
/// missed because others come and go, and the last costs no more than the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stretch<T> {
    pub items: Vec<T>,
    /// Asks for the next stretch; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#continue: Option<String>,
    /// Where to begin to watch so that nothing is missed that changes after the walk began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// An item of a list: a whole resource, or the members of one that were asked for.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Item {
    Whole(Box<WrittenResource>),
    Part(Map<String, Value>),
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

//! Query parameters of the reports on a resource.

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::generation::Generation;
use hyperfleet_core::list::{Page, PageRequest};

use super::invalid;
use super::numbers::Numbers;
use crate::failure::Failure;
use crate::params::Pairs;

/// Which reports are wanted.
#[derive(Debug)]
pub(crate) struct StatusesQuery {
    /// Only those on this generation.
    pub(crate) generation: Option<Generation>,
    page: PageRequest,
}

impl StatusesQuery {
    pub(crate) fn read(query: &Pairs) -> Result<StatusesQuery, Failure> {
        let mut numbers = Numbers::of(query);
        let default = PageRequest::default();
        let generation = numbers.read("generation", i32::MAX.unsigned_abs());
        let page = numbers.read("page", PageRequest::MAX_PAGE);
        let size = numbers.read("size", PageRequest::MAX_SIZE);
        if !numbers.errors.is_empty() {
            return Err(invalid(numbers.errors));
        }
        Ok(StatusesQuery {
            generation: generation.and_then(|number| Generation::try_from(i64::from(number)).ok()),
            page: PageRequest {
                page: page.unwrap_or(default.page),
                size: size.unwrap_or(default.size),
            },
        })
    }

    /// The page that is wanted of all the reports on a resource.
    pub(crate) fn page(&self, reports: Vec<AdapterStatus>) -> Page<AdapterStatus> {
        let total = reports.len() as u64;
        let offset = usize::try_from(self.page.offset()).unwrap_or(usize::MAX);
        let items = reports.into_iter().skip(offset);
        let items: Vec<AdapterStatus> = items.take(self.page.size as usize).collect();
        Page {
            page: self.page.page,
            size: u32::try_from(items.len()).unwrap_or(u32::MAX),
            total,
            items,
        }
    }
}

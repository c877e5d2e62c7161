//! On whose behalf a write is done, and by which rules.

use hyperfleet_core::adapter_status::AdapterStatus;
pub use hyperfleet_core::aggregation::Aggregated;
use hyperfleet_core::identity::AdapterName;
use hyperfleet_core::kind::Registry;
use hyperfleet_core::resource::Resource;
use hyperfleet_core::time::Time;

/// Who writes, when, and in which request: what history keeps of a write besides the write itself.
#[derive(Debug, Clone, Copy)]
pub struct Author<'a> {
    pub actor: &'a str,
    pub request_id: &'a str,
    pub at: Time,
}

/// A resource with everything a decision about it looks at.
#[derive(Debug, Clone)]
pub struct Stored {
    pub resource: Resource,
    /// Every stored report on it, in the order of the adapters' names.
    pub reports: Vec<AdapterStatus>,
    /// Whether any child exists, itself deleting or not.
    pub has_children: bool,
}

impl Stored {
    /// What an adapter last said.
    pub fn report(&self, adapter: &AdapterName) -> Option<&AdapterStatus> {
        let mut reports = self.reports.iter();
        reports.find(|report| report.adapter == *adapter)
    }

    /// Puts a report in the place of what its adapter said before.
    pub fn put(&mut self, report: AdapterStatus) {
        let mut reports = self.reports.iter_mut();
        if let Some(before) = reports.find(|before| before.adapter == report.adapter) {
            *before = report;
            return;
        }
        self.reports.push(report);
        self.reports.sort_by(|a, b| a.adapter.cmp(&b.adapter));
    }
}

/// The rules of the domain that a write of several rows applies to each of them.
pub trait Rules: Sync {
    fn kinds(&self) -> &Registry;

    /// The adapters that must clean up before a resource of this kind goes.
    fn required(&self, kind: &str) -> Vec<AdapterName>;

    /// Pure: called again when a write lost a race.
    fn aggregate(&self, stored: &Stored, at: Time) -> Aggregated;
}

//! A status report on its way in: decoded, checked, and judged against what is stored.

mod decode;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use chrono::TimeDelta;
use serde_json::Value;

use crate::adapter_status::AdapterStatus;
use crate::condition::{AdapterCondition, ConditionStatus, types};
use crate::free::FreeObject;
use crate::generation::Generation;
use crate::identity::AdapterName;
use crate::time::{Time, storable};

/// How far ahead of the API's clock an adapter's may be.
const MAX_AHEAD: TimeDelta = TimeDelta::minutes(5);
/// How old an observation may be.
const MAX_BEHIND: TimeDelta = TimeDelta::minutes(30);

/// What an adapter says, well formed but not yet judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub adapter: AdapterName,
    pub observed_generation: Generation,
    pub observed_time: Time,
    pub conditions: Vec<ReportedCondition>,
    pub data: FreeObject,
    pub metadata: Option<FreeObject>,
}

/// One condition of a report. Its transition time is the API's to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedCondition {
    pub kind: String,
    pub status: ConditionStatus,
    pub reason: Option<String>,
    pub message: Option<String>,
}

/// Why a report is refused. The text is the `detail` of the answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ReportError {
    pub field: String,
    pub message: String,
}

impl ReportError {
    fn new(field: impl Into<String>, message: impl Into<String>) -> ReportError {
        ReportError {
            field: field.into(),
            message: message.into(),
        }
    }

    /// The same about a part of a larger body.
    fn inside(self, place: &str) -> ReportError {
        let field = match self.field.as_str() {
            "" => place.to_owned(),
            field => format!("{place}.{field}"),
        };
        ReportError {
            message: format!("{place}: {}", self.message),
            field,
        }
    }
}

/// What is to be done with a report.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Store this and aggregate again.
    Accept(AdapterStatus),
    /// The same observation once more: answer with what is stored.
    Repeated,
    /// Too old, too new or undecided: answer that nothing changed.
    Discard(Discarded),
}

/// Why a report is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discarded {
    /// It speaks of a generation that does not exist yet.
    FutureGeneration,
    /// A report on a newer generation is stored.
    OlderGeneration,
    /// A later observation of the same generation is stored.
    OlderObservation,
    /// `Available=Unknown` says nothing that the stored report does not say better.
    Undecided,
}

impl Report {
    /// Reads a request body. `now` stands in for a missing observation time and bounds a given one.
    pub fn decode(body: &Value, now: Time) -> Result<Report, ReportError> {
        Report::checked(decode::report(body, None, now)?, now)
    }

    /// Reads a request body that holds one report, or several of them: `{generation, adapter_statuses: […]}`.
    ///
    /// Several are taken together or not at all: each must have its mandatory conditions, also one that would be
    /// discarded as stale.
    pub fn decode_all(body: &Value, now: Time) -> Result<Vec<Report>, ReportError> {
        let Some(nested) = decode::Nested::of(body)? else {
            return Ok(vec![Report::decode(body, now)?]);
        };
        let mut reports: Vec<Report> = Vec::with_capacity(nested.entries.len());
        for (index, entry) in nested.entries.iter().enumerate() {
            let report = decode::report(entry, nested.generation, now)
                .and_then(|report| Report::checked(report, now))
                .and_then(|report| report.has_mandatory().map(|()| report))
                .map_err(|error| error.inside(&format!("{}[{index}]", nested.field)))?;
            if reports.iter().any(|other| other.adapter == report.adapter) {
                return Err(ReportError::new(
                    format!("{}[{index}].adapter", nested.field),
                    format!("adapter '{}' reports twice", report.adapter),
                ));
            }
            reports.push(report);
        }
        Ok(reports)
    }

    fn checked(report: Report, now: Time) -> Result<Report, ReportError> {
        if report.observed_time > now + MAX_AHEAD {
            return Err(ReportError::new(
                "observed_time",
                "observed_time must not be more than 5m0s in the future",
            ));
        }
        if report.observed_time < now - MAX_BEHIND {
            return Err(ReportError::new(
                "observed_time",
                "observed_time must not be more than 30m0s in the past",
            ));
        }
        Ok(report)
    }

    /// Decides what to do with the report, under the row lock of its resource.
    ///
    /// The order matters: a stale report is discarded before its conditions are looked at.
    pub fn judge(
        self,
        current: Generation,
        stored: Option<&AdapterStatus>,
    ) -> Result<Verdict, ReportError> {
        if self.observed_generation > current {
            return Ok(Verdict::Discard(Discarded::FutureGeneration));
        }
        if let Some(stored) = stored {
            if stored.observed_generation > self.observed_generation {
                return Ok(Verdict::Discard(Discarded::OlderGeneration));
            }
            if stored.observed_generation == self.observed_generation
                && self.observed_time < stored.last_report_time
            {
                return Ok(Verdict::Discard(Discarded::OlderObservation));
            }
        }
        self.has_mandatory()?;
        if let Some(stored) = stored {
            if self.is_undecided() {
                return Ok(Verdict::Discard(Discarded::Undecided));
            }
            if stored.observed_generation == self.observed_generation
                && stored.last_report_time == self.observed_time
            {
                return Ok(Verdict::Repeated);
            }
        }
        Ok(Verdict::Accept(self.into_status(stored)))
    }

    fn has_mandatory(&self) -> Result<(), ReportError> {
        let has = |mandatory: &&str| self.conditions.iter().any(|c| c.kind == **mandatory);
        match types::MANDATORY.iter().find(|mandatory| !has(mandatory)) {
            None => Ok(()),
            Some(missing) => Err(ReportError::new(
                "conditions",
                format!(
                    "missing mandatory condition '{missing}': all adapters must report Available, Applied, and Health"
                ),
            )),
        }
    }

    fn is_undecided(&self) -> bool {
        self.conditions.iter().any(|condition| {
            condition.kind == types::AVAILABLE && condition.status == ConditionStatus::Unknown
        })
    }

    fn into_status(self, stored: Option<&AdapterStatus>) -> AdapterStatus {
        let time = storable(self.observed_time);
        let conditions = self
            .conditions
            .into_iter()
            .map(|condition| AdapterCondition {
                last_transition_time: stored
                    .and_then(|stored| stored.condition(&condition.kind))
                    .filter(|before| before.status == condition.status)
                    .map_or(time, |before| before.last_transition_time),
                kind: condition.kind,
                status: condition.status,
                reason: condition.reason,
                message: condition.message,
            })
            .collect();
        AdapterStatus {
            adapter: self.adapter,
            observed_generation: self.observed_generation,
            conditions,
            data: self.data,
            metadata: self.metadata,
            created_time: stored.map_or(time, |stored| stored.created_time),
            last_report_time: time,
        }
    }
}

//! What is asked, over and over.

use clap::ValueEnum;
use http::StatusCode;
use serde::Serialize;

use crate::connection::Call;
use crate::fleet::{FAILED_SHARE, Fleet, ROUND, SHARDS};
use crate::report::{ADAPTERS, Says};

/// In the order in which they run: those that change nothing first, on the fleet as it was seeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scenario {
    Get,
    List,
    ListLabel,
    ListCondition,
    ListUnreconciled,
    Report,
    ReportRound,
    Patch,
    Create,
}

impl Scenario {
    pub(crate) const ALL: &[Scenario] = &[
        Scenario::Get,
        Scenario::List,
        Scenario::ListLabel,
        Scenario::ListCondition,
        Scenario::ListUnreconciled,
        Scenario::Report,
        Scenario::ReportRound,
        Scenario::Patch,
        Scenario::Create,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Scenario::Get => "get",
            Scenario::List => "list",
            Scenario::ListLabel => "list-label",
            Scenario::ListCondition => "list-condition",
            Scenario::ListUnreconciled => "list-unreconciled",
            Scenario::Report => "report",
            Scenario::ReportRound => "report-round",
            Scenario::Patch => "patch",
            Scenario::Create => "create",
        }
    }

    /// What it does, for whoever reads the figures.
    pub(crate) fn method(self, reported: u32) -> String {
        match self {
            Scenario::Get => "GET of a random cluster".to_owned(),
            Scenario::List => "GET of the tenth page of 10, newest first".to_owned(),
            Scenario::ListLabel => {
                format!("GET of 20 by two labels that 1 in {} has", 2 * SHARDS)
            }
            Scenario::ListCondition => {
                format!("GET of 20 by a condition that 1 in {FAILED_SHARE} has")
            }
            Scenario::ListUnreconciled => {
                "GET of 20 by a condition that nearly all have".to_owned()
            }
            Scenario::Report => format!(
                "PUT of a status by one of {} adapters on one of {reported} clusters; half say nothing new",
                ADAPTERS.len()
            ),
            Scenario::ReportRound => format!(
                "the same, {ROUND} clusters at a time: each adapter reports once on each of them"
            ),
            Scenario::Patch => "PATCH of a random cluster's spec".to_owned(),
            Scenario::Create => "POST of a new cluster".to_owned(),
        }
    }

    pub(crate) fn call(self, fleet: &Fleet, dice: &mut fastrand::Rng) -> Call {
        let cluster = dice.u32(..fleet.size());
        match self {
            Scenario::Get => Call::get(fleet.path(cluster)),
            Scenario::List => Call::get("/clusters?page=10&size=10".to_owned()),
            Scenario::ListLabel => {
                let shard = dice.u32(..SHARDS);
                search(&format!("labels.env='prod' and labels.shard='{shard}'"))
            }
            Scenario::ListCondition => search("status.conditions.ValidationSuccessful='False'"),
            Scenario::ListUnreconciled => search("status.conditions.Reconciled='False'"),
            Scenario::Report => {
                let cluster = dice.u32(..fleet.reported());
                fleet.report(cluster, dice.usize(..ADAPTERS.len()), half_new(dice))
            }
            Scenario::ReportRound => {
                let (cluster, adapter) = fleet.next_of_round();
                fleet.report(cluster, adapter, half_new(dice))
            }
            Scenario::Patch => fleet.patch(cluster),
            Scenario::Create => fleet.create(),
        }
    }

    /// Whether an answer is the one that a working server gives.
    pub(crate) fn is_good(self, status: StatusCode) -> bool {
        match self {
            Scenario::Create => status == StatusCode::CREATED,
            // 204: another report on the same pair overtook this one, as happens between adapters too.
            Scenario::Report | Scenario::ReportRound => {
                matches!(status, StatusCode::CREATED | StatusCode::NO_CONTENT)
            }
            _ => status == StatusCode::OK,
        }
    }
}

fn half_new(dice: &mut fastrand::Rng) -> Says {
    if dice.bool() { Says::Same } else { Says::New }
}

fn search(expression: &str) -> Call {
    Call::get(format!("/clusters?size=20&search={}", encoded(expression)))
}

fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

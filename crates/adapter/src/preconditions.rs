//! Preconditions: fetched, captured, judged, in order, up to the first that does not hold.

use serde_json::{Map, Value as Json};

use crate::calls::{self, Api};
use crate::context::{Context, Fault};
use crate::judge::{Answer, judge};
use crate::log;
use crate::older_names;
use crate::params::Stop;
use crate::task::{Capture, CaptureFrom, Precondition, Task};

/// Whether work may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Met,
    /// Which one does not hold, and the values it saw.
    NotMet(String),
}

pub(crate) async fn evaluate(
    task: &Task,
    api: &dyn Api,
    context: &mut Context,
) -> Result<Verdict, Stop> {
    for precondition in &task.preconditions {
        if let Some(line) = &precondition.log {
            log::say(line, context);
        }
        fetch(precondition, api, context).await?;
        let not_met = |why: &str| {
            let name = &precondition.name;
            Ok(Verdict::NotMet(format!(
                "precondition '{name}' not met: {why}"
            )))
        };
        match precondition.test.as_ref().map(|test| judge(test, context)) {
            None | Some(Answer::Yes) => {}
            Some(Answer::No(why)) => return not_met(&why),
            // A value that is not there yet is the usual reason to wait.
            Some(Answer::Unknown(why)) => return not_met(&why),
        }
    }
    Ok(Verdict::Met)
}

async fn fetch(
    precondition: &Precondition,
    api: &dyn Api,
    context: &mut Context,
) -> Result<(), Stop> {
    let Some(call) = &precondition.call else {
        return Ok(());
    };
    let answer = match calls::fetch(api, call, context).await {
        Ok(answer) => answer,
        Err(failure) => {
            let name = &precondition.name;
            return Err(Stop {
                transient: failure.is_transient(),
                not_found: failure.is_not_found(),
                fault: Fault {
                    phase: "preconditions",
                    step: name.clone(),
                    reason: failure.reason().to_owned(),
                    message: format!("precondition `{name}`: {failure}"),
                },
            });
        }
    };
    context.learn(&answer);
    for capture in &precondition.captures {
        match captured(capture, &precondition.name, &answer, context) {
            Some(value) => context.set(&capture.name, value),
            None => {
                tracing::warn!(
                    precondition = precondition.name,
                    capture = capture.name,
                    "nothing to capture in the answer"
                );
                context.set(&capture.name, Json::Null);
            }
        }
    }
    if let Some(output) = &precondition.output {
        let mut answer = answer.clone();
        older_names::add(&mut answer);
        context.set(output, answer);
    }
    context.set(&precondition.name, answer);
    Ok(())
}

/// A capture sees the answer's keys, and the answer under the precondition's name.
fn captured(capture: &Capture, name: &str, answer: &Json, context: &Context) -> Option<Json> {
    let empty = Map::new();
    let keys = answer.as_object().unwrap_or(&empty);
    let value = match &capture.from {
        CaptureFrom::Field(path) => path
            .get_in(|root| match root == name {
                true => Some(answer),
                false => keys.get(root),
            })
            .map(|value| value.into_owned()),
        CaptureFrom::Expression(program) => {
            let bindings = hyperfleet_expr::cel::Bindings::new(context.now)
                .bind_all(keys)
                .bind(name, answer);
            program.evaluate_json(&bindings).ok()
        }
    };
    value
        .filter(|value| !value.is_null())
        .or_else(|| capture.default.clone())
}

//! The end of every event: what happened is told.

use std::time::{Duration, Instant};

use hyperfleet_client::{Call, CallError, Method};
use serde_json::Value as Json;

use crate::calls::{self, CallFailure};
use crate::context::{Context, Fault};
use crate::judge::{Answer, judge};
use crate::pipeline::{Engine, Progress};
use crate::standard::{self, Course, Observed};
use crate::task::{Action, Post, Resource};
use crate::{log, payload, stamp};

/// Sends the configuration's own report, or the standard one. If the own one cannot be built or is
/// refused, the framework says so itself. Returns what was accepted.
pub(crate) async fn report(engine: &Engine, progress: &mut Progress) -> Option<Json> {
    if is_finalized(engine, progress) {
        progress.context.finalize();
    }
    let standard = standard_report(engine, progress);
    let Some(post) = &engine.task.post else {
        return send(engine, progress, standard).await;
    };
    progress.context.set_report(standard);
    let fault = match build(post, progress) {
        Ok(skipped) => match act(engine, post, &skipped, progress).await {
            Ok(sent) => return sent,
            Err(fault) => fault,
        },
        Err(fault) => fault,
    };
    progress.fail(fault.clone());
    // The report that went wrong is what a person must hear about, not an earlier failure.
    let course = Course::Failed(progress.fault.as_ref().unwrap_or(&fault));
    let report = standard::report(&engine.identity.name, &progress.context, &course, &[]);
    send(engine, progress, report).await
}

/// Whether the owner is being deleted and nothing that goes with it is left.
fn is_finalized(engine: &Engine, progress: &Progress) -> bool {
    let settled = progress.context.deleting && progress.fault.is_none() && progress.retry.is_none();
    let mut resources = engine.task.resources.iter();
    settled
        && !resources.any(|resource| goes(resource) && ours(resource, &progress.context).is_some())
}

/// Whether it is deleted or let go when its owner goes.
fn goes(resource: &Resource) -> bool {
    resource.lifecycle.delete.is_some() || resource.lifecycle.detach.is_some()
}

/// The object, unless it was let go: then it is there, but not ours.
fn ours<'c>(resource: &Resource, context: &'c Context) -> Option<&'c Json> {
    let object = context.resource(&resource.name);
    object.filter(|object| resource.lifecycle.detach.is_none() || stamp::is_marked(object))
}

/// How long a report about a run that took too long may itself take.
const LAST_WORD: Duration = Duration::from_secs(10);

/// Says that a run was given up.
pub(crate) async fn report_fault(engine: &Engine, context: Context, fault: Fault) {
    let mut progress = Progress::new(context, &engine.task.resources);
    progress.fail(fault.clone());
    let course = Course::Failed(&fault);
    let report = standard::report(&engine.identity.name, &progress.context, &course, &[]);
    let sent = tokio::time::timeout(LAST_WORD, send(engine, &mut progress, report));
    if sent.await.is_err() {
        tracing::warn!("the report did not get through either");
    }
}

/// Builds all payloads; returns the names of those left out.
fn build(post: &Post, progress: &mut Progress) -> Result<Vec<String>, Fault> {
    let mut skipped = Vec::new();
    for one in &post.payloads {
        let failed = |message: String| Fault {
            phase: "post_actions",
            step: "build_payloads".to_owned(),
            reason: "PayloadError".to_owned(),
            message: format!("payload `{}`: {message}", one.name),
        };
        match one.when.as_ref().map(|test| judge(test, &progress.context)) {
            None | Some(Answer::Yes) => {}
            Some(Answer::No(_)) => {
                skipped.push(one.name.clone());
                continue;
            }
            Some(Answer::Unknown(why)) => {
                return Err(failed(format!("`when` cannot be answered: {why}")));
            }
        }
        let document = payload::build(&one.build, &progress.context).map_err(failed)?;
        // A text: bodies are templates that print it.
        progress
            .context
            .set(&one.name, Json::from(document.to_string()));
    }
    Ok(skipped)
}

/// Runs the actions in order; the error is one that is not reported yet.
async fn act(
    engine: &Engine,
    post: &Post,
    skipped: &[String],
    progress: &mut Progress,
) -> Result<Option<Json>, Fault> {
    let mut reported = None;
    for action in &post.actions {
        if action.payloads.iter().any(|used| skipped.contains(used)) {
            continue;
        }
        let failed = |reason: &str, message: String| Fault {
            phase: "post_actions",
            step: action.name.clone(),
            reason: reason.to_owned(),
            message: format!("post action `{}`: {message}", action.name),
        };
        match (action.when.as_ref()).map(|test| judge(test, &progress.context)) {
            None | Some(Answer::Yes) => {}
            Some(Answer::No(_)) => continue,
            Some(Answer::Unknown(why)) => {
                return Err(failed(
                    "GateError",
                    format!("`when` cannot be answered: {why}"),
                ));
            }
        }
        if let Some(line) = &action.log {
            log::say(line, &progress.context);
        }
        match perform(engine, action, progress).await {
            Ok(sent) => reported = sent.or(reported),
            // The resource is gone: there is nobody left to tell.
            Err(failure) if failure.is_not_found() => {
                gone(progress, &failure);
                return Ok(reported);
            }
            Err(failure) => {
                let message = failure.to_string();
                let fault = failed(failure.reason(), message);
                if failure.is_transient() {
                    progress.retry(&fault.message, None);
                    progress.fail(fault);
                    return Ok(reported);
                }
                if reported.is_some() {
                    progress.fail(fault);
                    return Ok(reported);
                }
                return Err(fault);
            }
        }
    }
    Ok(reported)
}

/// The body, if it was a report about the resource that the API took.
async fn perform(
    engine: &Engine,
    action: &Action,
    progress: &Progress,
) -> Result<Option<Json>, CallFailure> {
    let Some(call) = &action.call else {
        return Ok(None);
    };
    let started = Instant::now();
    let sent = calls::send(engine.api.as_ref(), call, &progress.context).await;
    let is_report = call.url.source().contains("/statuses");
    if let Some(metrics) = engine.metrics.as_ref().filter(|_| is_report) {
        metrics.report(sent.is_ok(), started.elapsed());
    }
    sent?;
    let body = call.body.as_ref().filter(|_| is_report);
    let body = body.and_then(|body| {
        let text = body.render(&progress.context.data(), progress.context.now);
        serde_json::from_str(&text.ok()?).ok()
    });
    Ok(body)
}

fn standard_report(engine: &Engine, progress: &Progress) -> Json {
    let resources = engine.task.resources.iter().enumerate();
    let observed: Vec<Observed<'_>> = resources
        .map(|(index, resource)| Observed {
            name: &resource.name,
            object: ours(resource, &progress.context),
            deletable: goes(resource),
            withheld: progress.work.withheld[index].as_deref(),
        })
        .collect();
    let course = match (&progress.fault, &progress.skipped) {
        (Some(fault), _) => Course::Failed(fault),
        (None, Some(why)) => Course::NotMet(why),
        (None, None) => Course::Ran,
    };
    let name = &engine.identity.name;
    standard::report(name, &progress.context, &course, &observed)
}

async fn send(engine: &Engine, progress: &mut Progress, report: Json) -> Option<Json> {
    let url = progress.context.subject.statuses_url();
    let mut call = Call::new(Method::PUT, url).body(report.to_string());
    calls::trace(&mut call.headers, &progress.context);
    let started = Instant::now();
    let sent: Result<_, CallError> = engine.api.call(call).await;
    if let Some(metrics) = &engine.metrics {
        metrics.report(sent.is_ok(), started.elapsed());
    }
    let failure = match sent {
        Ok(_) => return Some(report),
        Err(error) => CallFailure::from(error),
    };
    if failure.is_not_found() {
        gone(progress, &failure);
        return None;
    }
    let fault = Fault {
        phase: "post_actions",
        step: "report".to_owned(),
        reason: failure.reason().to_owned(),
        message: format!("the report was not accepted: {failure}"),
    };
    if failure.is_transient() {
        progress.retry(&fault.message, None);
    }
    tracing::warn!(error = fault.message, "cannot report");
    progress.fail(fault);
    None
}

fn gone(progress: &mut Progress, failure: &CallFailure) {
    tracing::info!(%failure, "the resource does not exist any more; nothing is reported");
    if progress.skipped.is_none() {
        progress.skipped = Some("ResourceNotFound".to_owned());
    }
}

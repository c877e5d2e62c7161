//! The part that hears spans and events and writes lines.

use std::io::Write;

use parking_lot::RwLock;
use tracing::dispatcher::WeakDispatch;
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::fields::Fields;
use super::line::{Identity, Shape, write_line};
use crate::trace;

/// Writes one line per event.
pub(super) struct LogLayer<W> {
    shape: Shape,
    identity: Identity,
    writer: W,
    /// The subscriber this layer is part of; the span ids of traces are asked from it.
    dispatch: RwLock<Option<WeakDispatch>>,
}

impl<W> LogLayer<W> {
    pub(super) fn new(shape: Shape, identity: Identity, writer: W) -> Self {
        Self {
            shape,
            identity,
            writer,
            dispatch: RwLock::new(None),
        }
    }

    fn add_trace_ids(&self, span: &Id, fields: &mut Fields) {
        let dispatch = self
            .dispatch
            .read()
            .as_ref()
            .and_then(WeakDispatch::upgrade);
        if let Some((trace_id, span_id)) = dispatch.and_then(|all| trace::ids_of(span, &all)) {
            fields.set("trace_id", trace_id.into());
            fields.set("span_id", span_id.into());
        }
    }
}

impl<S, W> Layer<S> for LogLayer<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + 'static,
{
    fn on_register_dispatch(&self, subscriber: &Dispatch) {
        *self.dispatch.write() = Some(subscriber.downgrade());
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        for span in context
            .event_scope(event)
            .into_iter()
            .flat_map(|scope| scope.from_root())
        {
            if let Some(own) = span.extensions().get::<Fields>() {
                fields.extend(own);
            }
        }
        if let Some(span) = context.event_span(event) {
            self.add_trace_ids(&span.id(), &mut fields);
        }
        event.record(&mut fields);
        let line = write_line(
            self.shape,
            &self.identity,
            *event.metadata().level(),
            fields,
        );
        // A closed output must not end the process: there is nobody left to tell.
        let _ = self.writer.make_writer().write_all(line.as_bytes());
    }
}

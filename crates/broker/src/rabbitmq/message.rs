//! Headers as AMQP writes them.

use lapin::BasicProperties;
use lapin::types::{AMQPValue, FieldTable, LongString, ShortString};

use crate::headers::Headers;

const PERSISTENT: u8 = 2;

/// Those of a received message that are strings.
pub(super) fn headers(properties: &BasicProperties) -> Headers {
    let table = properties.headers().as_ref();
    let strings = table.into_iter().flatten().filter_map(|(name, value)| {
        let text = match value {
            AMQPValue::LongString(text) => String::from_utf8(text.as_bytes().to_vec()).ok()?,
            AMQPValue::ShortString(text) => text.to_string(),
            _ => return None,
        };
        Some((name.to_string(), text))
    });
    Headers::of_message(strings)
}

pub(super) fn properties(headers: Headers) -> BasicProperties {
    let mut table = FieldTable::default();
    for (name, value) in headers.into_pairs() {
        // A name came from a table or is ours, so it is never too long.
        if let Ok(name) = ShortString::try_new(name) {
            table.insert(name, AMQPValue::LongString(LongString::from(value)));
        }
    }
    BasicProperties::default()
        .with_delivery_mode(PERSISTENT)
        .with_content_type("application/cloudevents+json".into())
        .with_headers(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_strings_survive_a_move() {
        let mut table = FieldTable::default();
        table.insert("x-death".into(), AMQPValue::LongLongInt(1));
        table.insert("tenant".into(), AMQPValue::LongString("a".into()));
        let received = BasicProperties::default().with_headers(table);
        let sent = properties(headers(&received).retried(2));
        let sent = sent.headers().clone().unwrap();
        assert!(
            sent.inner()
                .values()
                .all(|v| matches!(v, AMQPValue::LongString(_)))
        );
        let names: Vec<_> = sent.inner().keys().map(ShortString::as_str).collect();
        assert_eq!(names, ["hyperfleet-attempt", "tenant"]);
    }
}

//! Headers as AWS writes them: string attributes that are never empty.

use std::collections::HashMap;

use aws_sdk_sns::types::MessageAttributeValue as SnsValue;
use aws_sdk_sqs::types::MessageAttributeValue as SqsValue;

use crate::headers::Headers;

/// Attributes SQS takes with one message.
const MOST: usize = 10;

/// Those of a received message that are strings.
pub(super) fn headers(attributes: Option<&HashMap<String, SqsValue>>) -> Headers {
    let all = attributes.into_iter().flatten();
    Headers::of_message(
        all.filter_map(|(name, value)| Some((name.clone(), value.string_value()?.to_owned()))),
    )
}

pub(super) fn for_queue(headers: Headers) -> HashMap<String, SqsValue> {
    let attributes = pairs(headers).map(|(name, value)| {
        let value = SqsValue::builder().data_type("String").string_value(value);
        Some((name, value.build().ok()?))
    });
    attributes.flatten().collect()
}

pub(super) fn for_topic(headers: Headers) -> HashMap<String, SnsValue> {
    let attributes = pairs(headers).map(|(name, value)| {
        let value = SnsValue::builder().data_type("String").string_value(value);
        Some((name, value.build().ok()?))
    });
    attributes.flatten().collect()
}

/// Ours come last in a list and must not be the ones left out.
fn pairs(headers: Headers) -> impl Iterator<Item = (String, String)> {
    let given = headers.into_pairs().into_iter().rev();
    let usable = given.filter(|(_, value)| !value.is_empty());
    usable.take(MOST).map(|(name, value)| (name, text(&value)))
}

/// AWS takes what XML can hold.
fn text(value: &str) -> String {
    let allowed = |c: char| {
        matches!(c, '\t' | '\n' | '\r') || (c >= ' ' && c != '\u{fffe}' && c != '\u{ffff}')
    };
    value
        .chars()
        .map(|c| if allowed(c) { c } else { '\u{fffd}' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_aws_cannot_hold_is_replaced_or_left_out() {
        let headers = Headers::of_message([
            ("reason".to_owned(), "a\u{1b}[1m\nü".to_owned()),
            ("empty".to_owned(), String::new()),
        ]);
        let attributes = for_queue(headers);
        assert_eq!(attributes.len(), 1);
        assert_eq!(attributes["reason"].string_value(), Some("a\u{fffd}[1m\nü"));
    }

    #[test]
    fn ours_survive_when_there_are_too_many() {
        let foreign = (0..20).map(|n| (format!("x-{n}"), "y".to_owned()));
        let headers = Headers::of_message(foreign).retried(3);
        let sent = for_queue(headers);
        assert_eq!(sent.len(), MOST);
        assert_eq!(super::headers(Some(&sent)).attempt(), 3);
    }
}

//! How long ago something was, as kubectl says it.

use chrono::{DateTime, TimeDelta, Utc};

/// Two units at most, and one where the second says little: `45s`, `3m12s`, `25m`, `5h10m`, `2d4h`, `90d`, `2y5d`.
pub(crate) fn age(since: DateTime<Utc>, now: DateTime<Utc>) -> String {
    span(now - since)
}

/// The same of a span; one that lies ahead is none.
pub(crate) fn span(length: TimeDelta) -> String {
    let seconds = length.num_seconds().max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let two = |whole: i64, unit: &str, rest: i64, small: &str| match rest {
        0 => format!("{whole}{unit}"),
        rest => format!("{whole}{unit}{rest}{small}"),
    };
    match seconds {
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        _ => two(days / 365, "y", days % 365, "d"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_the_units_that_matter() {
        let told = |seconds: i64| span(TimeDelta::seconds(seconds));
        let cases = [
            (-5, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (192, "3m12s"),
            (1500, "25m"),
            (18_600, "5h10m"),
            (90_000, "25h"),
            (187_200, "2d4h"),
            (90 * 86_400, "90d"),
            (735 * 86_400, "2y5d"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(told(seconds), expected, "{seconds}");
        }
    }
}

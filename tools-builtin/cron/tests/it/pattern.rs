//! The times that match an expression, compared with another implementation.

use croner::parser::{CronParser, Seconds, Year};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use tools_cron::{CronExpression, next_after};

use crate::fixture::{cron, time};

/// Returns the next three times after a moment, as croner finds them.
fn of_croner(expression: &str, after: Timestamp) -> Vec<Timestamp> {
    let fields: Vec<_> = expression.split(' ').collect();
    let is_both = [fields[2], fields[4]]
        .iter()
        .any(|field| field.starts_with(['*', '?']));
    let parser = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .dom_and_dow(is_both)
        .build();
    let cron = parser.parse(expression).unwrap();
    let mut wall = TimeZone::UTC.to_datetime(after);
    let mut times = Vec::new();
    while times.len() < 3 {
        let Ok(next) = cron.find_next_occurrence(&wall, false) else {
            break;
        };
        times.push(TimeZone::UTC.to_timestamp(next).unwrap());
        wall = next;
    }
    times
}

/// Returns the next three times after a moment, as we find them.
fn ours(expression: &str, after: Timestamp) -> Vec<Timestamp> {
    let schedule = cron(expression);
    let times = std::iter::successors(Some(after), |last| {
        next_after(&schedule, &TimeZone::UTC, *last)
    });
    times.skip(1).take(3).collect()
}

fn value(range: std::ops::RangeInclusive<u32>) -> impl Strategy<Value = String> {
    let pair = (range.clone(), range.clone());
    let (low, high) = (*range.start(), *range.end());
    prop_oneof![
        3 => range.prop_map(|value| value.to_string()),
        1 => pair.prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
        1 => (low..=high, 1..7_u32).prop_map(move |(from, step)| format!("{from}-{high}/{step}")),
    ]
}

fn field(part: impl Strategy<Value = String> + 'static) -> impl Strategy<Value = String> {
    prop_oneof![
        2 => Just("*".to_owned()),
        1 => (2..9_u32).prop_map(|step| format!("*/{step}")),
        3 => prop::collection::vec(part, 1..3).prop_map(|parts| parts.join(",")),
    ]
}

fn day() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("?".to_owned()),
        Just("L".to_owned()),
        Just("lw".to_owned()),
        field(prop_oneof![
            3 => value(1..=31),
            1 => (1..=31_u32).prop_map(|day| format!("{day}W")),
        ]),
    ]
}

fn weekday() -> impl Strategy<Value = String> {
    let name = || {
        prop::sample::select(vec![
            "sun", "MON", "Tue", "WED", "thu", "FRI", "SAT", "3", "7",
        ])
    };
    field(prop_oneof![
        3 => value(0..=7),
        1 => name().prop_map(str::to_owned),
        1 => name().prop_map(|name| format!("{name}L")),
        1 => (name(), 1..=5).prop_map(|(name, nth)| format!("{name}#{nth}")),
        1 => Just("FRI-SUN".to_owned()),
    ])
}

fn month() -> impl Strategy<Value = String> {
    field(prop_oneof![
        value(1..=12),
        prop::sample::select(vec!["JAN", "feb", "SEP-NOV", "Dec"]).prop_map(str::to_owned),
    ])
}

proptest! {
    #[test]
    fn the_times_of_an_expression_are_those_of_croner(
        minute in field(value(0..=59)),
        hour in field(value(0..=23)),
        day in day(),
        month in month(),
        weekday in weekday(),
        start in 1_700_000_000_i64..1_900_000_000,
    ) {
        let expression = format!("{minute} {hour} {day} {month} {weekday}");
        let after = Timestamp::from_second(start).unwrap();
        prop_assert_eq!(ours(&expression, after), of_croner(&expression, after), "{}", expression);
    }
}

#[test]
fn a_day_that_no_month_has_never_comes() {
    assert_eq!(ours("0 0 31 2 *", time("2026-01-01T00:00:00Z")), []);
}

#[test]
fn an_expression_that_is_none_is_refused() {
    for text in [
        "1,,2 * * * *",
        "5/10 * * * *",
        "*/0 * * * *",
        "*/x * * * *",
        "9-5 * * * *",
        "1-2-3 * * * *",
        "+5 * * * *",
        "? * * * *",
        "L * * * *",
        "* * 0 * *",
        "* * 32W * *",
        "* * W * *",
        "* * * FOO *",
        "* * * 0 *",
        "* * * * L",
        "* * * * 5#6",
        "* * * * 5#",
        "* * * * #2",
    ] {
        assert!(text.parse::<CronExpression>().is_err(), "{text}");
    }
}

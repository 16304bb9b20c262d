//! The times of runs, also where the clock changes.

use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use tools_cron::{CronExpression, Schedule, find_zone, next_after};

use crate::fixture::{cron, time};

/// Returns the first runs after a moment, as times on the clock with their offset.
fn runs(expression: &str, zone: &str, after: &str, most: usize) -> Vec<String> {
    let (schedule, zone) = (cron(expression), find_zone(zone).unwrap());
    let runs = std::iter::successors(Some(time(after)), |run| next_after(&schedule, &zone, *run));
    let shown = |run: Timestamp| {
        run.to_zoned(zone.clone())
            .strftime("%d %H:%M %:z")
            .to_string()
    };
    runs.skip(1).take(most).map(shown).collect()
}

/// Berlin skips 02:00 to 03:00 on 2026-03-29.
const GAP: &str = "2026-03-28T22:00:00Z";
/// Berlin repeats 02:00 to 03:00 on 2026-10-25.
const FOLD: &str = "2026-10-24T22:30:00Z";

#[test]
fn a_fixed_time_that_the_clock_skips_runs_once_after_the_gap() {
    assert_eq!(
        runs("30 2 * * *", "Europe/Berlin", GAP, 2),
        ["29 03:00 +02:00", "30 02:30 +02:00"]
    );
    assert_eq!(
        runs("0,15,30 2,3 * * *", "Europe/Berlin", GAP, 3),
        ["29 03:00 +02:00", "29 03:15 +02:00", "29 03:30 +02:00"]
    );
    // Santiago skips the first hour of a day.
    assert_eq!(
        runs("15 0 6 9 *", "America/Santiago", "2026-09-01T00:00:00Z", 1),
        ["06 01:00 -03:00"]
    );
    // Lord Howe skips half an hour.
    assert_eq!(
        runs(
            "10 2 * * *",
            "Australia/Lord_Howe",
            "2026-10-03T15:00:00Z",
            1
        ),
        ["04 02:30 +11:00"]
    );
}

#[test]
fn a_fixed_time_that_the_clock_repeats_runs_the_first_time() {
    assert_eq!(
        runs("30 2 * * *", "Europe/Berlin", FOLD, 2),
        ["25 02:30 +02:00", "26 02:30 +01:00"]
    );
    assert_eq!(
        runs("0 1,2,3 * * *", "Europe/Berlin", FOLD, 3),
        ["25 01:00 +02:00", "25 02:00 +02:00", "25 03:00 +01:00"]
    );
    // After the first 02:40, the second 02:50 is not a run.
    assert_eq!(
        runs("50 2 * * *", "Europe/Berlin", "2026-10-25T01:40:00Z", 1),
        ["26 02:50 +01:00"]
    );
}

#[test]
fn an_expression_that_follows_the_clock_skips_the_gap_and_runs_in_both_halves_of_the_fold() {
    assert_eq!(
        runs("*/30 1-3 * * *", "Europe/Berlin", GAP, 4),
        [
            "29 01:00 +01:00",
            "29 01:30 +01:00",
            "29 03:00 +02:00",
            "29 03:30 +02:00"
        ]
    );
    assert_eq!(
        runs("30 * * * *", "Europe/Berlin", FOLD, 4),
        [
            "25 01:30 +02:00",
            "25 02:30 +02:00",
            "25 02:30 +01:00",
            "25 03:30 +01:00"
        ]
    );
}

#[test]
fn an_interval_does_not_depend_on_the_clock_of_the_zone() {
    let schedule = Schedule::Every {
        seconds: 3600,
        from: time("2026-03-29T00:10:00Z"),
    };
    let zone = find_zone("Europe/Berlin").unwrap();
    for (after, next) in [
        ("2026-03-28T00:00:00Z", "2026-03-28T00:10:00Z"),
        ("2026-03-29T00:10:00Z", "2026-03-29T01:10:00Z"),
        ("2026-03-29T01:10:00Z", "2026-03-29T02:10:00Z"),
        ("2026-03-29T01:09:59.9Z", "2026-03-29T01:10:00Z"),
    ] {
        assert_eq!(
            next_after(&schedule, &zone, time(after)),
            Some(time(next)),
            "{after}"
        );
    }
}

#[test]
fn a_day_matches_both_fields_if_one_begins_with_a_star_and_else_one_of_them() {
    let days = |expression| runs(expression, "UTC", "2026-11-01T00:00:00Z", 3);
    assert_eq!(
        days("0 12 13 * 5"),
        ["06 12:00 +00:00", "13 12:00 +00:00", "20 12:00 +00:00"]
    );
    assert_eq!(
        days("0 12 */13 * 5"),
        ["27 12:00 +00:00", "01 12:00 +00:00", "14 12:00 +00:00"]
    );
}

#[test]
fn the_error_names_the_wrong_field() {
    for (text, part) in [
        ("61 * * * *", "minute (0-59)"),
        ("* 24 * * *", "hour (0-23)"),
        ("* * 32 * *", "day of the month"),
        ("* * * 13 *", "month (1-12)"),
        ("* * * * 8", "weekday (0-7)"),
        ("* * * *", "has 4 fields"),
        ("* * * * * *", "has 6 fields"),
        ("", "has 0 fields"),
        ("@reboot", "no named expression"),
        ("* * x * *", "day of the month"),
    ] {
        let error = text.parse::<CronExpression>().unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

fn field(range: std::ops::RangeInclusive<u32>) -> impl Strategy<Value = String> {
    let number = range.clone();
    prop_oneof![
        Just("*".to_owned()),
        (2..9_u32).prop_map(|step| format!("*/{step}")),
        number.clone().prop_map(|number| number.to_string()),
        (number.clone(), number.clone()).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
        (number.clone(), number).prop_map(|(a, b)| format!("{a},{b}")),
    ]
}

fn expression() -> impl Strategy<Value = String> {
    let fields = (
        field(0..=59),
        field(0..=23),
        field(1..=28),
        field(1..=12),
        field(0..=6),
    );
    fields.prop_map(|(minute, hour, day, month, weekday)| {
        format!("{minute} {hour} {day} {month} {weekday}")
    })
}

/// Zones with all kinds of changes: an hour, half an hour, at midnight, twice a year around Ramadan, and none.
fn zone() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "America/Santiago",
        "Africa/Casablanca",
        "Asia/Kathmandu",
        "UTC",
    ])
}

proptest! {
    /// The search from any moment before a run gives this run, so no order of events gives one twice or leaves one out.
    #[test]
    fn runs_are_strictly_increasing_and_none_is_found_twice(
        expression in expression(),
        zone in zone(),
        start in 1_700_000_000_i64..1_900_000_000,
        part in 0.0..1.0_f64,
    ) {
        let (schedule, zone) = (cron(&expression), find_zone(zone).unwrap());
        let mut after = Timestamp::from_second(start).unwrap();
        for _ in 0..20 {
            let Some(next) = next_after(&schedule, &zone, after) else { break };
            prop_assert!(next > after);
            let between = after + (Duration::try_from(next.duration_since(after)).unwrap().mul_f64(part));
            if between < next {
                prop_assert_eq!(next_after(&schedule, &zone, between), Some(next));
            }
            after = next;
        }
    }
}

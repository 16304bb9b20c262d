//! `time.now`: the current date and time.

use std::time::SystemTime;

use jiff::Timestamp;
use serde::Serialize;
use tools::{ToolContext, ToolError, tool};

use crate::clock::Clock;
use crate::zone;

/// Returns the current date and time, in UTC or in the given time zone.
// Not pure: hosts may cache the results of pure tools, and a session may be denied the time, for example during a replay.
#[tool(
    name = "time.now",
    title = "Current time",
    reads = "clock:now",
    tags = ["time"],
    example({}),
    example({"zone": "Europe/Berlin"}),
    example({"zone": "+05:30"}),
)]
pub(crate) async fn now(
    cx: &ToolContext,
    /// The time zone: an IANA name such as `America/New_York`, an offset such as `+02:00`, or `UTC`.
    #[serde(default = "utc")]
    #[schemars(length(min = 1, max = 64))]
    zone: String,
) -> Result<Now, ToolError> {
    let clock = cx
        .service::<Clock>()
        .map_or_else(SystemTime::now, |clock| clock.now());
    moment(clock, &zone).map_err(|error| ToolError::execution_failed(error.to_string()))
}

/// A point in time in one time zone, in whole seconds.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Now {
    /// In RFC 3339 format: `2026-07-21T14:30:00+02:00`.
    rfc3339: String,
    /// In RFC 9557 format, which includes the zone: `2026-07-21T14:30:00+02:00[Europe/Berlin]`.
    rfc9557: String,
    /// The zone's IANA name, or its offset if it has none.
    zone: String,
    /// The offset from UTC, in seconds east of Greenwich.
    offset_seconds: i32,
    /// The English name of the weekday.
    weekday: String,
    /// The seconds since 1970-01-01T00:00:00Z.
    unix_seconds: i64,
}

#[derive(Debug, thiserror::Error)]
enum NowError {
    #[error(transparent)]
    Zone(#[from] zone::UnknownZone),
    #[error("the clock of this machine has an invalid time: {0}; ask the user to correct it")]
    Clock(#[from] jiff::Error),
}

fn moment(clock: SystemTime, zone: &str) -> Result<Now, NowError> {
    let zone = zone::find(zone)?;
    let exact = Timestamp::try_from(clock)?;
    // Rounds down, also before 1970.
    let second = Timestamp::from_second(exact.as_nanosecond().div_euclid(1_000_000_000) as i64)?;
    let zoned = second.to_zoned(zone);
    let offset = zoned.offset();
    Ok(Now {
        rfc3339: second.display_with_offset(offset).to_string(),
        rfc9557: zoned.to_string(),
        zone: zoned
            .time_zone()
            .iana_name()
            .map_or_else(|| zoned.strftime("%:z").to_string(), str::to_owned),
        offset_seconds: offset.seconds(),
        weekday: zoned.strftime("%A").to_string(),
        unix_seconds: second.as_second(),
    })
}

fn utc() -> String {
    "UTC".to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use serde_json::{Value, json};
    use tools::ToolErrorKind;
    use tools_testkit::TestHost;

    use super::*;

    fn host() -> TestHost {
        TestHost::new(crate::register).with_grant(&["clock:read:**"])
    }

    async fn at(unix_millis: u64, zone: &str) -> Value {
        let clock = Clock::new(move || UNIX_EPOCH + Duration::from_millis(unix_millis));
        host()
            .with_service(clock)
            .value("time.now", json!({"zone": zone}))
            .await
    }

    #[tokio::test]
    async fn the_time_is_returned_in_every_format() {
        let expected = json!({
            "rfc3339": "2024-02-29T13:34:56+01:00",
            "rfc9557": "2024-02-29T13:34:56+01:00[Europe/Berlin]",
            "zone": "Europe/Berlin",
            "offset_seconds": 3600,
            "weekday": "Thursday",
            "unix_seconds": 1_709_210_096,
        });
        assert_eq!(at(1_709_210_096_999, "europe/berlin").await, expected);
    }

    #[tokio::test]
    async fn the_offset_follows_summer_time() {
        // 2024-03-31T01:00:00Z, when Berlin went from 02:00 to 03:00.
        assert_eq!(
            at(1_711_846_799_000, "Europe/Berlin").await["rfc3339"],
            "2024-03-31T01:59:59+01:00"
        );
        assert_eq!(
            at(1_711_846_800_000, "Europe/Berlin").await["rfc3339"],
            "2024-03-31T03:00:00+02:00"
        );
    }

    #[tokio::test]
    async fn an_offset_stands_for_a_zone() {
        for (zone, rfc3339) in [
            ("-09:30", "1969-12-31T14:30:00-09:30"),
            ("+02:00", "1970-01-01T02:00:00+02:00"),
        ] {
            let now = at(0, zone).await;
            assert_eq!(
                (&now["rfc3339"], &now["zone"]),
                (&json!(rfc3339), &json!(zone))
            );
            assert_eq!(now["rfc9557"], format!("{rfc3339}[{zone}]"));
        }
    }

    #[tokio::test]
    async fn a_moment_before_1970_is_rounded_like_any_other() {
        let clock = Clock::new(|| UNIX_EPOCH - Duration::from_millis(500));
        let now = host()
            .with_service(clock)
            .value("time.now", json!({}))
            .await;
        assert_eq!(now["rfc3339"], "1969-12-31T23:59:59+00:00");
    }

    #[tokio::test]
    async fn without_a_clock_of_the_host_it_reads_that_of_the_system() {
        let seconds = || {
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap()
                .as_secs() as i64
        };
        let before = seconds();
        let now = host().value("time.now", json!({})).await;
        assert!((before..=seconds()).contains(&now["unix_seconds"].as_i64().unwrap()));
        assert_eq!(now["zone"], "UTC");
    }

    #[tokio::test]
    async fn an_unknown_zone_is_answered_with_near_names() {
        let error = host()
            .call("time.now", json!({"zone": "Berlin"}))
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains("did you mean Europe/Berlin?"), "{error}");
    }

    #[tokio::test]
    async fn it_needs_the_clock_to_be_granted() {
        let error = host()
            .with_grant(&[])
            .call("time.now", json!({}))
            .await
            .unwrap_err();
        assert!(
            matches!(error.kind(), ToolErrorKind::PermissionDenied { needed, .. } if needed[0].to_string() == "clock:read:now")
        );
    }
}

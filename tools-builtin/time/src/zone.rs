//! Lookup of time zones by name or offset.

use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use tools_zone::find_zone;

/// The error for a text that names no time zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnknownZone {
    #[error("{zone:?} is not an offset; write hours and minutes such as `+02:00` or `-09:30`")]
    Offset { zone: String },
    #[error("{0}, or an offset such as `+02:00`")]
    Name(#[from] tools_zone::UnknownZone),
}

/// Returns the time zone for an IANA name, in any letter case, or for an offset.
pub(crate) fn find(zone: &str) -> Result<TimeZone, UnknownZone> {
    if zone.starts_with(['+', '-']) {
        let offset = DateTimeParser::new().parse_time_zone_with(&TimeZoneDatabase::none(), zone);
        return offset.map_err(|_| UnknownZone::Offset {
            zone: zone.to_owned(),
        });
    }
    Ok(find_zone(zone)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_needs_no_name() {
        for (zone, seconds) in [
            ("+02:00", 7200),
            ("-0930", -34_200),
            ("+05", 18_000),
            ("-00:00", 0),
        ] {
            assert_eq!(
                find(zone).unwrap().to_fixed_offset().unwrap().seconds(),
                seconds,
                "{zone}"
            );
        }
        for zone in ["+", "+2h", "-99:00", "+02:00[Europe/Berlin]"] {
            assert_eq!(
                find(zone),
                Err(UnknownZone::Offset {
                    zone: zone.to_owned()
                })
            );
        }
    }

    #[test]
    fn a_name_that_is_unknown_may_have_been_meant_as_an_offset() {
        let error = find("02:00").unwrap_err().to_string();
        assert!(
            matches!(find("02:00"), Err(UnknownZone::Name(_)))
                && error.contains("such as `+02:00`"),
            "{error}"
        );
    }
}

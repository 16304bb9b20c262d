//! Lookup of time zones by name or offset.

use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use tools::ToolError;

/// The error for a text that names no time zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnknownZone {
    #[error("{zone:?} is not an offset; write hours and minutes such as `+02:00` or `-09:30`")]
    Offset { zone: String },
    #[error(
        "there is no time zone {zone:?}{}; use an IANA name such as `Europe/Berlin`, an offset such as `+02:00`, or `UTC`",
        suggested(near)
    )]
    Name { zone: String, near: Vec<String> },
}

/// Returns the time zone for an IANA name, in any letter case, or for an offset.
///
/// Names are looked up in the bundled data, so the tool reads no file and gives the same answer on every machine.
pub(crate) fn find(zone: &str) -> Result<TimeZone, UnknownZone> {
    let names = TimeZoneDatabase::bundled();
    if zone.starts_with(['+', '-']) {
        let offset = DateTimeParser::new().parse_time_zone_with(&names, zone);
        return offset.map_err(|_| UnknownZone::Offset { zone: zone.to_owned() });
    }
    // `Etc/Unknown` is in the data, but is not a usable zone.
    let found = names.get(zone).ok().filter(|found| !found.is_unknown());
    found.ok_or_else(|| UnknownZone::Name { zone: zone.to_owned(), near: near(zone, &names) })
}

/// Returns up to three names similar to `zone`, the closest first. Compares cities, so `Berlin` finds `Europe/Berlin`.
fn near(zone: &str, names: &TimeZoneDatabase) -> Vec<String> {
    // Without the continent: it would make all names of Europe similar.
    let city = |name: &str| name.rsplit('/').next().unwrap_or(name).to_lowercase().replace(' ', "_");
    let names: Vec<_> = names.available().map(|name| (city(name.as_str()), name.to_string())).collect();
    let near = ToolError::near(&city(zone), names.iter().map(|(city, _)| &**city));
    let named = near.iter().flat_map(|near| names.iter().filter(move |(city, _)| city == near));
    named.map(|(_, name)| name.clone()).take(3).collect()
}

fn suggested(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", near.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near_names(zone: &str) -> Vec<String> {
        match find(zone) {
            Err(UnknownZone::Name { near, .. }) => near,
            other => panic!("{zone} gives {other:?}"),
        }
    }

    #[test]
    fn a_name_is_found_in_any_case() {
        for (zone, name) in
            [("UTC", "UTC"), ("utc", "UTC"), ("europe/BERLIN", "Europe/Berlin"), ("Asia/Kolkata", "Asia/Kolkata")]
        {
            assert_eq!(find(zone).unwrap().iana_name(), Some(name));
        }
    }

    #[test]
    fn an_offset_needs_no_name() {
        for (zone, seconds) in [("+02:00", 7200), ("-0930", -34_200), ("+05", 18_000), ("-00:00", 0)] {
            assert_eq!(find(zone).unwrap().to_fixed_offset().unwrap().seconds(), seconds, "{zone}");
        }
        for zone in ["+", "+2h", "-99:00", "+02:00[Europe/Berlin]"] {
            assert_eq!(find(zone), Err(UnknownZone::Offset { zone: zone.to_owned() }));
        }
    }

    #[test]
    fn a_typo_and_a_bare_city_are_answered_with_names() {
        assert_eq!(near_names("Europe/Berlim")[0], "Europe/Berlin");
        assert_eq!(near_names("Berlin")[0], "Europe/Berlin");
        assert_eq!(near_names("new york")[0], "America/New_York");
    }

    #[test]
    fn nonsense_is_answered_without_names() {
        for zone in ["", "qqqq", "Etc/Unknown", "../../etc/passwd", "EST5EDT,M3.2.0,M11.1.0,nonsense", "\u{1F570}"] {
            assert_eq!(near_names(zone), Vec::<String>::new(), "{zone}");
        }
    }
}

#![doc = include_str!("../README.md")]

use jiff::tz::{TimeZone, TimeZoneDatabase};
use tools::ToolError;

/// The error for a text that names no time zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no time zone {zone:?}{}; use an IANA name such as `Europe/Berlin`, or `UTC`",
    suggest(near)
)]
pub struct UnknownZone {
    zone: String,
    near: Vec<String>,
}

/// Returns the time zone of an IANA name, in any letter case, from the bundled data.
///
/// # Errors
/// Returns [`UnknownZone`], with up to three similar names, if there is none.
pub fn find_zone(name: &str) -> Result<TimeZone, UnknownZone> {
    let names = TimeZoneDatabase::bundled();
    // `Etc/Unknown` is in the data, but is not a usable zone.
    let found = names.get(name).ok().filter(|found| !found.is_unknown());
    found.ok_or_else(|| UnknownZone {
        zone: name.to_owned(),
        near: near(name, &names),
    })
}

/// Returns up to three names similar to `zone`, the closest first. Compares cities, so `Berlin` finds `Europe/Berlin`.
fn near(zone: &str, names: &TimeZoneDatabase) -> Vec<String> {
    // Without the continent: it would make all names of Europe similar.
    let city = |name: &str| {
        name.rsplit('/')
            .next()
            .unwrap_or(name)
            .to_lowercase()
            .replace(' ', "_")
    };
    let names: Vec<_> = names
        .available()
        .map(|name| (city(name.as_str()), name.to_string()))
        .collect();
    let near = ToolError::near(&city(zone), names.iter().map(|(city, _)| &**city));
    let named = near
        .iter()
        .flat_map(|near| names.iter().filter(move |(city, _)| city == near));
    named.map(|(_, name)| name.clone()).take(3).collect()
}

fn suggest(near: &[String]) -> String {
    ToolError::did_you_mean(near)
        .map(|near| format!(" ({near})"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_any_case() {
        for (zone, name) in [
            ("UTC", "UTC"),
            ("utc", "UTC"),
            ("europe/BERLIN", "Europe/Berlin"),
            ("Asia/Kolkata", "Asia/Kolkata"),
        ] {
            assert_eq!(find_zone(zone).unwrap().iana_name(), Some(name));
        }
    }

    #[test]
    fn a_typo_and_a_bare_city_are_answered_with_names() {
        for (zone, name) in [
            ("Europe/Berlim", "Europe/Berlin"),
            ("Berlin", "Europe/Berlin"),
            ("new york", "America/New_York"),
        ] {
            assert_eq!(find_zone(zone).unwrap_err().near[0], name, "{zone}");
        }
    }

    #[test]
    fn nonsense_is_answered_without_names() {
        for zone in [
            "",
            "qqqq",
            "Etc/Unknown",
            "../../etc/passwd",
            "EST5EDT,M3.2.0,M11.1.0,nonsense",
            "\u{1F570}",
        ] {
            assert_eq!(
                find_zone(zone).unwrap_err().near,
                Vec::<String>::new(),
                "{zone}"
            );
        }
    }
}

//! Lookup of time zones by name.

use jiff::tz::{TimeZone, TimeZoneDatabase};
use tools::ToolError;

/// The error for a text that names no time zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no time zone {zone:?}{}; use an IANA name such as `Europe/Berlin`, or `UTC`", suggested(near))]
pub struct UnknownZone {
    zone: String,
    near: Vec<String>,
}

/// Returns the time zone of an IANA name, in any letter case, from the bundled data, so that every machine gives the same answer.
///
/// # Errors
/// Returns [`UnknownZone`], with similar names, if there is none.
pub fn find_zone(name: &str) -> Result<TimeZone, UnknownZone> {
    let names = TimeZoneDatabase::bundled();
    // `Etc/Unknown` is in the data, but is not a usable zone.
    let found = names.get(name).ok().filter(|found| !found.is_unknown());
    found.ok_or_else(|| UnknownZone { zone: name.to_owned(), near: near(name, &names) })
}

/// Returns up to three names similar to `zone`, the closest first. Compares cities, so `Berlin` finds `Europe/Berlin`.
fn near(zone: &str, names: &TimeZoneDatabase) -> Vec<String> {
    let city = |name: &str| name.rsplit('/').next().unwrap_or(name).to_lowercase().replace(' ', "_");
    let names: Vec<_> = names.available().map(|name| (city(name.as_str()), name.to_string())).collect();
    let near = ToolError::near(&city(zone), names.iter().map(|(city, _)| &**city));
    let named = near.iter().flat_map(|near| names.iter().filter(move |(city, _)| city == near));
    named.map(|(_, name)| name.clone()).take(3).collect()
}

fn suggested(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", near.join(" or ")) }
}

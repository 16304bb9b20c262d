//! The warnings and the line of `doctor` on searches.

use host::FamilyReport;
use host::settings::{Settings, SettingsError};
use tools_http::settings::{client, list_set};

use super::SearchKeys;
use super::search::{from_settings, key_source, search_client, service};
use crate::search::{self, SearchBackend, WebSearch};

/// Returns a warning if the configured search is not available, and one for each setting without an effect.
pub(super) fn notices(settings: &Settings) -> Result<Vec<String>, SettingsError> {
    let mut notices = list_replaced(settings, is_replaced());
    let named = &settings.of::<SearchKeys>().backend;
    if let (Some(named), Err(reason)) = (named, from_settings(settings)?) {
        let origin = &named.origin;
        notices.push(format!("{origin}: web.search is not available: {reason}"));
    }
    Ok(notices)
}

/// Returns the line on the search, or the mistake in its settings. The line has no key.
pub(super) fn report(settings: &Settings) -> Result<FamilyReport, SettingsError> {
    if let Ok(search) = from_settings(settings)? {
        search_client(&client(settings)?, settings, &search)?;
    }
    let mut report = FamilyReport::default();
    report.lines.push(line(settings)?);
    report.lines.extend(list_replaced(settings, is_replaced()));
    Ok(report)
}

fn is_replaced() -> bool {
    host::program::services().get::<WebSearch>().is_some()
}

/// Returns a line for each setting of a search that the program replaces by its own.
fn list_replaced(settings: &Settings, is_replaced: bool) -> Vec<String> {
    if !is_replaced {
        return Vec::new();
    }
    let effect = "has no effect, because this program has a search of its own; remove it";
    list_set(settings, |name| name.starts_with("web."), effect)
}

fn line(settings: &Settings) -> Result<String, SettingsError> {
    let names = |backends: &[&SearchBackend]| {
        let names: Vec<_> = backends.iter().map(|backend| backend.name).collect();
        names.join(", ")
    };
    let mut linked = search::list();
    let all = names(&linked);
    linked.retain(|backend| !backend.is_proven);
    let unproven = if linked.is_empty() {
        String::new()
    } else {
        format!("; never run against the real service: {}", names(&linked))
    };
    let chosen = match service(settings)? {
        None => "none".to_owned(),
        Some(service) => {
            let name = service.backend().name;
            let url = service.base_url();
            format!("{name} at {url}{}", key_note(settings, &service))
        }
    };
    Ok(format!("search: {chosen}; linked: {all}{unproven}"))
}

/// Returns a note on the place of the key, or nothing if the backend takes none.
fn key_note(settings: &Settings, service: &WebSearch) -> String {
    let key = service.backend().key.is_some();
    let source = key_source(settings, service).filter(|_| key);
    source.map_or_else(String::new, |source| {
        format!(", key {}", source.value.describe())
    })
}

#[cfg(test)]
mod tests {
    use host::settings::{Setting, Values};

    use super::*;

    #[test]
    fn a_setting_of_a_search_that_the_program_replaces_is_named() {
        let mut flags = Values::default();
        flags.of_mut::<SearchKeys>().backend =
            Some(Setting::from_flag("--search", "duckduckgo".to_owned()));
        let settings = Settings::from_flags(flags).unwrap();
        assert_eq!(list_replaced(&settings, false), [""; 0]);
        let [line] = &list_replaced(&settings, true)[..] else {
            panic!("one line")
        };
        assert!(line.contains("web.search has no effect"), "{line}");
    }
}

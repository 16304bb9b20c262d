//! The warnings and the lines of `doctor` on requests of tools.

use host::FamilyReport;
use host::settings::{Origin, Setting, Settings, SettingsError};

use super::client;
use super::keys::HttpKeys;
use super::place::SecretPlace;
use crate::client::HttpClient;

/// Returns a warning for each secret that is not found, and for each setting that has less effect than it says.
pub(crate) fn notices(settings: &Settings) -> Vec<String> {
    let secrets = settings.of::<HttpKeys>().secrets.iter();
    let missing = secrets.filter(|secret| !secret.value.source.is_found());
    let missing = missing.map(|Setting { value: SecretPlace { name, source, .. }, origin }| {
            format!(
                "{origin}: the secret {name} is not sent, because {} is empty or missing; set this variable or write this file, or \
                 remove its table",
                source.place()
            )
        });
    missing
        .chain(list_replaced(settings, is_replaced()))
        .collect()
}

fn is_replaced() -> bool {
    host::program::services().get::<HttpClient>().is_some()
}

/// Returns a line for each setting of a client that the program replaces by its own.
fn list_replaced(settings: &Settings, is_replaced: bool) -> Vec<String> {
    let effect = "has an effect on services with keys of their own alone, such as a search, because this program has an HTTP client of \
        its own";
    list_set(
        settings,
        |name| is_replaced && (name.starts_with("http.") || name == "secrets"),
        effect,
    )
}

/// Returns a line for each setting with such a name that is set, with its origin and its effect.
pub fn list_set(settings: &Settings, is_named: impl Fn(&str) -> bool, effect: &str) -> Vec<String> {
    let rows = settings.values().rows();
    let set = rows.filter(|(key, _, origin)| is_named(key.name) && *origin != Origin::Default);
    set.map(|(key, _, origin)| format!("{origin}: {} {effect}", key.name))
        .collect()
}

/// Returns lines on the client and the secrets, or the mistake in their settings. No line contains a secret.
pub(crate) fn report(settings: &Settings) -> Result<FamilyReport, SettingsError> {
    client::client(settings)?;
    let keys: &HttpKeys = settings.of();
    let mut report = FamilyReport::default();
    report.lines.push(client_line(keys));
    for secret in &keys.secrets {
        let place = &secret.value;
        let (name, origin, header) = (&place.name, &place.origin, &place.header);
        let source = place.source.describe();
        report.lines.push(format!(
            "secret {name}: {header} of {origin}, from {source}"
        ));
    }
    report.lines.extend(list_replaced(settings, is_replaced()));
    Ok(report)
}

fn client_line(keys: &HttpKeys) -> String {
    let proxy = keys.tool_proxy.as_ref();
    let proxy = proxy.map_or("none", |proxy| &proxy.value);
    let hosts = keys.private_hosts.iter().map(|host| host.value.as_str());
    let hosts = hosts.collect::<Vec<_>>().join(" ");
    let hosts = if hosts.is_empty() { "none" } else { &hosts };
    format!("http: proxy {proxy}; private hosts {hosts}")
}

#[cfg(test)]
mod tests {
    use host::settings::Values;

    use super::*;

    #[test]
    fn a_setting_that_a_client_of_the_program_replaces_is_named() {
        let mut flags = Values::default();
        let keys: &mut HttpKeys = flags.of_mut();
        keys.private_hosts = vec![Setting::from_flag("--private-host", "localhost".to_owned())];
        let settings = Settings::from_flags(flags).unwrap();
        assert_eq!(list_replaced(&settings, false), [""; 0]);
        let lines = list_replaced(&settings, true);
        let [host] = &lines[..] else {
            panic!("{lines:?}")
        };
        assert!(
            host.contains("--private-host") && host.contains("http.private_hosts has an effect"),
            "{host}"
        );
        assert_eq!(list_replaced(&Settings::default(), true), [""; 0]);
    }
}

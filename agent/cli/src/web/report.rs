//! The lines of `doctor` on requests of tools, and the warnings about missing secrets.

use std::sync::atomic::{AtomicBool, Ordering};

use tools_builtin::message;
use tools_builtin::web::search::{self, SearchBackend, WebSearch};
use tools_http::HttpClient;

use super::search::{self as configured, Search};
use super::{channels, client};
use crate::config::{Origin, ProgramSettings as _, Secret, Setting, Settings, SettingsError};
use crate::key_source;
use crate::notice;
use crate::program;
use tools::counted;

/// Warns, once in a process, of secrets and of a key of the search that are not found, and of settings that a service of the program replaces.
pub(crate) fn warn_missing(settings: &Settings) -> Result<(), SettingsError> {
    // `listen` and `cron run` open many sessions.
    static WARNED: AtomicBool = AtomicBool::new(false);
    if WARNED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    for Setting { value: Secret { name, source, .. }, origin } in &settings.program().secrets {
        if !key_source::is_found(source) {
            let place = key_source::place(source);
            notice::warning(&format!(
                "{origin}: the secret {name} is not sent, because {place} is empty or missing; set this variable or write this file, or remove its table"
            ));
        }
    }
    replaced(settings, Replaced::by_program()).iter().for_each(|warning| notice::warning(warning));
    channels::missing(settings).iter().for_each(|warning| notice::warning(warning));
    if let (Some(named), Search::Absent(reason)) = (&settings.network().search, configured::from_settings(settings)?) {
        notice::warning(&format!("{}: web.search is not available: {reason}", named.origin));
    }
    Ok(())
}

/// Returns lines on the client, the secrets, the search and the channels, or the mistake in their settings. No line contains a secret.
pub(crate) fn report(settings: &Settings) -> Result<Vec<String>, SettingsError> {
    let client = client::from_settings(settings)?;
    if let Search::Ready(search) = configured::from_settings(settings)? {
        client::of_search(&client, settings, &search)?;
    }
    let mut lines = vec![client_line(settings)];
    lines.extend(settings.program().secrets.iter().map(secret_line));
    lines.push(search_line(settings)?);
    lines.extend(channels::report(settings));
    lines.extend(replaced(settings, Replaced::by_program()));
    Ok(lines)
}

/// The services of the settings that the program replaces by its own.
#[derive(Clone, Copy)]
struct Replaced {
    client: bool,
    search: bool,
}

impl Replaced {
    fn by_program() -> Self {
        let services = program::services();
        Self { client: services.get::<HttpClient>().is_some(), search: services.get::<WebSearch>().is_some() }
    }
}

/// Returns a line for each setting that has less effect than it says, because the program brings the service that it describes.
fn replaced(settings: &Settings, replaced: Replaced) -> Vec<String> {
    let effect = |key: &str| match (key.split('.').next(), replaced) {
        (Some("http" | "secrets"), Replaced { client: true, search: true }) => {
            Some("no effect, because this program has an HTTP client and a search of its own; remove it")
        }
        (Some("http"), Replaced { client: true, .. }) if key.starts_with("http.max_connections") => {
            Some("no effect, because this program has an HTTP client of its own, whose limits hold; remove it")
        }
        (Some("http" | "secrets"), Replaced { client: true, .. }) => {
            Some("an effect on web.search alone, because this program has an HTTP client of its own for other tools")
        }
        (Some("web"), Replaced { search: true, .. }) => {
            Some("no effect, because this program has a search of its own; remove it")
        }
        _ => None,
    };
    let line = |key: &str, origin: &Origin| Some(format!("{origin}: {key} has {}", effect(key)?));
    let set = settings.values().rows().filter(|(_, _, origin)| *origin != Origin::Default);
    set.filter_map(|(about, _, origin)| line(about.name, &origin)).collect()
}

/// Returns the faults of linked search backends and types of channels, each with the check of `doctor` that finds it.
pub(crate) fn faults() -> Vec<(&'static str, String)> {
    let conflicts = [search::conflicts(), message::conflicts()].concat();
    let problems = [search::problems(), message::problems()].concat();
    let conflicts = conflicts.iter().map(|conflict| ("conflict", format!("{conflict}; unlink or rename one of them")));
    conflicts.chain(problems.iter().map(|problem| ("definition", problem.to_string()))).collect()
}

fn client_line(settings: &Settings) -> String {
    let proxy = settings.network().tool_proxy.as_ref().map_or("none", |proxy| &proxy.value);
    let hosts: Vec<_> = settings.network().private_hosts.iter().map(|host| host.value.as_str()).collect();
    let hosts = if hosts.is_empty() { "none".to_owned() } else { hosts.join(" ") };
    format!(
        "http: proxy {proxy}; private hosts {hosts}; at most {} a response, {:?} to its first byte and {:?} in all, {}, {}, {} to one host",
        settings.network().max_body.value.shown(),
        settings.network().tool_first_byte.value,
        settings.network().tool_total.value,
        counted(settings.network().max_redirects.value, "redirect"),
        counted(settings.network().max_connections.value, "connection"),
        settings.network().max_connections_per_host.value,
    )
}

fn secret_line(Setting { value: Secret { name, origin, header, source, .. }, .. }: &Setting<Secret>) -> String {
    format!(
        "secret {name}: {header} of {origin}, from {} {}",
        key_source::place(source),
        found(key_source::is_found(source))
    )
}

fn search_line(settings: &Settings) -> Result<String, SettingsError> {
    let names =
        |backends: &[&SearchBackend]| backends.iter().map(|backend| backend.name).collect::<Vec<_>>().join(", ");
    let mut linked = search::list();
    let all = names(&linked);
    linked.retain(|backend| !backend.is_proven);
    let unproven = match linked.is_empty() {
        true => String::new(),
        false => format!("; never run against the real service: {}", names(&linked)),
    };
    let chosen = match configured::service(settings)? {
        None => "none".to_owned(),
        Some(service) => {
            format!("{} at {}{}", service.backend().name, service.base_url(), key_note(settings, &service))
        }
    };
    Ok(format!("search: {chosen}; linked: {all}{unproven}"))
}

/// Returns a note on the place of the key, or nothing if the backend takes none.
fn key_note(settings: &Settings, service: &WebSearch) -> String {
    let Some(key) = &service.backend().key else { return String::new() };
    let source = configured::key_source(settings, key).value;
    format!(", key {} {}", key_source::place(&source), found(key_source::is_found(&source)))
}

fn found(is_found: bool) -> &'static str {
    if is_found { "(found)" } else { "(not found)" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::NetworkKeys;
    use crate::config::Values;

    #[test]
    fn a_setting_that_a_service_of_the_program_replaces_is_named() {
        let text = |flag, value: &str| Setting::from_flag(flag, value.to_owned());
        let mut flags = Values::default();
        flags.of_mut::<NetworkKeys>().private_hosts = vec![text("--private-host", "localhost")];
        flags.of_mut::<NetworkKeys>().max_connections_per_host = Setting::from_flag("--limit", 1);
        flags.of_mut::<NetworkKeys>().search = Some(text("--search", "duckduckgo"));
        let settings = Settings::from_flags(flags);
        let lines = |client, search| replaced(&settings, Replaced { client, search });
        assert_eq!(lines(false, false), [""; 0]);
        let [host, connections] = &lines(true, false)[..] else { panic!("{:?}", lines(true, false)) };
        assert!(connections.contains("http.max_connections_per_host has no effect"), "{connections}");
        assert!(
            host.contains("--private-host") && host.contains("http.private_hosts has an effect on web.search alone")
        );
        let [search] = &lines(false, true)[..] else { panic!("{:?}", lines(false, true)) };
        assert!(search.contains("web.search has no effect"), "{search}");
        let both = lines(true, true);
        assert!(both.len() == 3 && both.iter().all(|line| line.contains("has no effect")), "{both:?}");
        assert_eq!(replaced(&Settings::default(), Replaced { client: true, search: true }), [""; 0]);
    }
}

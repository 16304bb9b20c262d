//! The service of `web.search`, from the settings.

use std::fmt::Display;

use agent::KeySource;
use tools::policy::{Rule, Verdict};
use tools::protocol::InvalidClause;
use tools::{Clause, Target};
use tools_builtin::web::search::{self, SafeSearch, SearchKey, WebSearch};
use tools_http::BoundSecret;

use crate::config::{Origin, ProgramSettings as _, Setting, Settings, SettingsError};
use crate::key_source;

/// Stands in errors for the two settings of the key.
const KEY: &str = "web.search_key";

/// The search of a session.
pub(super) enum Search {
    /// The search by a backend.
    Ready(Box<ReadySearch>),
    /// The reason that there is none, with the next step.
    Absent(String),
}

/// A search with the key of its backend.
pub(super) struct ReadySearch {
    pub(super) service: WebSearch,
    /// `None` if the backend takes no key, or needs none and there is none.
    pub(super) key: Option<BoundSecret>,
}

/// Returns the search by the backend that the settings name, with its key.
pub(super) fn from_settings(settings: &Settings) -> Result<Search, SettingsError> {
    let Some(service) = service(settings)? else {
        let advice = "no search backend is configured; write search = \"duckduckgo\" below [web] in the settings";
        return Ok(Search::Absent(advice.to_owned()));
    };
    let name = service.backend().name;
    let Some(key) = &service.backend().key else {
        return match settings.network().search_key() {
            Some(named) => Err(invalid(KEY, &named, format!("has no effect, because {name} takes no key; remove it"))),
            None => Ok(ready(service, None)),
        };
    };
    let source = key_source(settings, key);
    let is_found = key_source::is_found(&source.value);
    let text = if is_found { source.value.read().map_err(|error| unusable(KEY, &source, error))? } else { None };
    if let Some(text) = text {
        let key = service.bind_key(&text).map_err(|error| unusable(KEY, &source, error))?;
        return Ok(ready(service, key));
    }
    match key.is_required {
        true => Ok(Search::Absent(format!(
            "the search backend {name} needs a key, and {} is empty or missing; write the key there, or name another place with \
             web.search_key_env or web.search_key_file",
            key_source::place(&source.value)
        ))),
        false => Ok(ready(service, None)),
    }
}

fn ready(service: WebSearch, key: Option<BoundSecret>) -> Search {
    Search::Ready(Box::new(ReadySearch { service, key }))
}

/// Adds the grants and rules that a search with the configured backend needs, with the origin of the setting that names it.
///
/// The backend's host is for `web.search` alone: its clause does not name it, so that other tools ask about it as about any host, and a
/// rule names it for this tool.
pub(super) fn access(settings: Settings) -> Result<Settings, SettingsError> {
    let (Some(service), Some(named)) = (service(&settings)?, settings.network().search.clone()) else {
        return Ok(settings);
    };
    with_targets(settings, &service.targets(), "web.search", &named.map(|_| "web.search"))
}

/// Adds the grants and rules for the targets of a backend, which only this tool reaches. `named` is the setting that names the backend.
pub(crate) fn with_targets(
    mut settings: Settings,
    targets: &[Target],
    tool: &str,
    named: &Setting<&'static str>,
) -> Result<Settings, SettingsError> {
    let origin = || named.origin.clone();
    for target in targets {
        let clause = target.to_clause();
        if target.scheme() != "net" {
            settings = settings.with_default_grant(Setting { value: clause, origin: origin() });
            continue;
        }
        let rule = Rule::new(Verdict::Allow, Some(tool), Some(clause));
        let rule = rule.map_err(|error| unusable(named.value, named, error))?;
        let clause = unnamed(target).map_err(|error| unusable(named.value, named, error))?;
        settings = settings
            .with_default_grant(Setting { value: clause, origin: origin() })
            .with_rule(Setting { value: rule, origin: origin() });
    }
    Ok(settings)
}

/// Returns the clause of braces that matches only this target, and does not name its host.
pub(super) fn unnamed(target: &Target) -> Result<Clause, InvalidClause> {
    format!("{}:{}:{{{}}}", target.scheme(), target.access(), target.to_clause().pattern()).parse()
}

/// Returns the search by the configured backend without its key, or `None` if there is no backend.
pub(super) fn service(settings: &Settings) -> Result<Option<WebSearch>, SettingsError> {
    let Some(named) = &settings.network().search else { return Ok(None) };
    let backend = search::get(&named.value).map_err(|error| unusable("web.search", named, error))?;
    let mut service = match &settings.network().search_url {
        Some(url) => {
            WebSearch::new(backend, Some(&url.value)).map_err(|error| unusable("web.search_url", url, error))?
        }
        None => WebSearch::new(backend, None).map_err(|error| unusable("web.search", named, error))?,
    };
    if let Some(count) = &settings.network().search_count {
        let number = usize::try_from(count.value).unwrap_or(usize::MAX);
        service = service.with_count(number).map_err(|error| unusable("web.search_count", count, error))?;
    }
    if let Some(language) = &settings.network().search_language {
        let set = service.with_language(&language.value);
        service = set.map_err(|error| unusable("web.search_language", language, error))?;
    }
    if let Some(safe) = &settings.network().safe_search {
        let level = safe.value.parse::<SafeSearch>().map_err(|error| unusable("web.safe_search", safe, error))?;
        service = service.with_safe_search(level).map_err(|error| unusable("web.safe_search", safe, error))?;
    }
    Ok(Some(service))
}

/// Returns the place of the backend's key: the configured one, or else its usual variable.
pub(super) fn key_source(settings: &Settings, key: &SearchKey) -> Setting<KeySource> {
    let variable = key.variable.to_owned();
    settings.network().search_key().unwrap_or_else(|| Setting {
        value: KeySource::Environment(variable.clone()),
        origin: Origin::Environment(variable),
    })
}

pub(crate) fn unusable<T>(key: &str, setting: &Setting<T>, error: impl Display) -> SettingsError {
    invalid(key, setting, format!("cannot be used: {error}"))
}

fn invalid<T>(key: &str, setting: &Setting<T>, reason: String) -> SettingsError {
    SettingsError::Value { origin: setting.origin.clone(), key: key.to_owned(), reason }
}

//! Reads a `toolcrib.toml` into a [`Layer`]; the list of all keys.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::provider::is_plain_url;
use agent::{KeySource, Selection};
use tools::Clause;
use tools::policy::Rule;

use super::error::ConfigError;
use super::layer::{Bounds, DURATIONS, Layer, RequestSettings};
use super::origin::Setting;
use super::section::Section;

/// Reads the text of the file at this absolute path. `~/` stands for `home`.
pub(super) fn layer(path: &Arc<Path>, text: &str, home: Option<&Path>) -> Result<Layer, ConfigError> {
    let mut file = Section::parse(path, text)?;
    let layer = Layer {
        provider: file.string("provider")?,
        model: file.string("model")?,
        base_url: file.parsed("base_url", url)?,
        key: key(&mut file, path, home)?,
        streaming: file.boolean("streaming")?,
        profile: file.string("profile")?,
        trusted: file.list("trusted", |text| directory(text, home))?.map(|list| list.value).unwrap_or_default(),
        bounds: bounds(&mut file)?,
        requests: requests(&mut file)?,
        policy: file.tables("policy")?,
        profiles: profiles(&mut file)?,
        // A new key needs a line here, a field in `Layer`, and a check in `trust.rs`.
    };
    file.finish()?;
    Ok(layer)
}

/// Reads the text of a file that may contain only `[[policy]]` tables.
pub(super) fn rules(path: &Arc<Path>, text: &str) -> Result<Vec<Setting<Rule>>, ConfigError> {
    let mut file = Section::parse(path, text)?;
    let rules = file.tables("policy")?;
    file.finish()?;
    Ok(rules)
}

fn key(file: &mut Section<'_>, path: &Path, home: Option<&Path>) -> Result<Option<Setting<KeySource>>, ConfigError> {
    let variable = file.parsed("key_env", variable)?;
    let key_file = file.parsed("key_file", |text| Ok(resolve(path, text, home)))?;
    match (variable, key_file) {
        (Some(_), Some(key_file)) => {
            let reason = "conflicts with key_env; remove one of them".to_owned();
            Err(ConfigError::Value { origin: key_file.origin, key: "key_file".to_owned(), reason })
        }
        (Some(variable), None) => Ok(Some(variable.map(KeySource::Environment))),
        (None, key_file) => Ok(key_file.map(|path| path.map(KeySource::File))),
    }
}

fn bounds(section: &mut Section<'_>) -> Result<Bounds, ConfigError> {
    let select = section.list("select", glob)?;
    let grants = section.list("grants", clause)?;
    let within = section.list("within", clause)?;
    let default_grants = section.boolean("default_grants")?;
    let mut limits = section.section("limits")?;
    let max_steps = limits.number("max_steps", 1..=u32::MAX)?;
    let call_timeout = limits.duration("call_timeout")?;
    limits.finish()?;
    Ok(Bounds {
        select: select.map(values),
        default_grants,
        grants: grants.map(|list| list.value).unwrap_or_default(),
        within: within.map(values),
        max_steps,
        call_timeout,
    })
}

fn requests(file: &mut Section<'_>) -> Result<RequestSettings, ConfigError> {
    let (mut timeouts, mut retries) = (file.section("timeouts")?, file.section("retries")?);
    let mut requests =
        RequestSettings { max_retries: retries.number("max", 0..=u32::MAX)?, ..RequestSettings::default() };
    for (setting, (key, _)) in requests.durations.iter_mut().zip(DURATIONS) {
        *setting = match key.strip_prefix("timeouts.") {
            Some(key) => timeouts.duration(key)?,
            None => retries.duration(key.trim_start_matches("retries."))?,
        };
    }
    timeouts.finish()?;
    retries.finish()?;
    Ok(requests)
}

fn profiles(file: &mut Section<'_>) -> Result<BTreeMap<String, Setting<Bounds>>, ConfigError> {
    let profile = |(name, mut section): (Setting<String>, Section<'_>)| {
        let bounds = bounds(&mut section)?;
        section.finish()?;
        Ok((name.value, Setting { value: bounds, origin: name.origin }))
    };
    file.sections("profiles")?.into_iter().map(profile).collect()
}

fn values<T>(list: Setting<Vec<Setting<T>>>) -> Setting<Vec<T>> {
    list.map(|list| list.into_iter().map(|item| item.value).collect())
}

fn clause(text: &str) -> Result<Clause, String> {
    text.parse().map_err(|error| format!("is invalid: {error}"))
}

fn glob(text: &str) -> Result<String, String> {
    Selection::parse([text]).map(|_| text.to_owned()).map_err(|error| format!("is invalid: {error}"))
}

/// Checks a URL. The error does not quote it, because it may contain a password.
pub(crate) fn url(text: &str) -> Result<String, String> {
    match is_plain_url(text) {
        true => Ok(text.to_owned()),
        false => Err("must be http(s)://host/path, without a user, a query or a fragment".to_owned()),
    }
}

/// Checks the name of a variable. The error does not quote it, because it may be the key itself.
fn variable(text: &str) -> Result<String, String> {
    let is_name = !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    match is_name && !text.is_empty() {
        true => Ok(text.to_owned()),
        false => Err("must be the name of an environment variable in capitals, not the key itself".to_owned()),
    }
}

fn directory(text: &str, home: Option<&Path>) -> Result<PathBuf, String> {
    let path = at_home(text, home);
    match path.is_absolute() {
        true => Ok(path),
        false => Err("must contain absolute paths, or paths that begin with ~/".to_owned()),
    }
}

/// Resolves a relative path against the directory of the settings file.
fn resolve(file: &Path, text: &str, home: Option<&Path>) -> PathBuf {
    let path = at_home(text, home);
    file.parent().map(|folder| folder.join(&path)).unwrap_or(path)
}

fn at_home(text: &str, home: Option<&Path>) -> PathBuf {
    match (text.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    }
}

//! From the text of a `toolcrib.toml` to a [`Layer`]: every key there is, in one place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::provider::is_plain_url;
use agent::{KeySource, Selection};
use tools::Clause;
use tools::policy::Rule;

use super::error::ConfigError;
use super::layer::{Bounds, Layer, WAITS, Waiting};
use super::origin::Setting;
use super::section::Section;

/// Reads the text of the file at this path, which is absolute. `~/` in it stands for this home.
pub(super) fn layer(path: &Arc<Path>, text: &str, home: Option<&Path>) -> Result<Layer, ConfigError> {
    let mut file = Section::parse(path, text)?;
    let layer = Layer {
        provider: file.text("provider")?,
        model: file.text("model")?,
        base_url: file.parsed("base_url", url)?,
        key: key(&mut file, path, home)?,
        streaming: file.switch("streaming")?,
        profile: file.text("profile")?,
        trusted: file.list("trusted", |text| directory(text, home))?.map(|list| list.value).unwrap_or_default(),
        bounds: bounds(&mut file)?,
        waiting: waiting(file.section("patience")?)?,
        policy: file.documents("policy")?,
        profiles: profiles(&mut file)?,
        // A new table gets its line here, a field in `Layer`, and in `trust.rs` its answer to who may say it.
    };
    file.finish()?;
    Ok(layer)
}

/// Reads the text of a file that has rules and nothing else.
pub(super) fn rules(path: &Arc<Path>, text: &str) -> Result<Vec<Setting<Rule>>, ConfigError> {
    let mut file = Section::parse(path, text)?;
    let rules = file.documents("policy")?;
    file.finish()?;
    Ok(rules)
}

fn key(file: &mut Section<'_>, path: &Path, home: Option<&Path>) -> Result<Option<Setting<KeySource>>, ConfigError> {
    let variable = file.parsed("key_env", variable)?;
    let kept = file.parsed("key_file", |text| Ok(beside(path, text, home)))?;
    match (variable, kept) {
        (Some(_), Some(kept)) => {
            let reason = "stands beside key_env, and there is one key; leave one of them out".to_owned();
            Err(ConfigError::Value { origin: kept.origin, key: "key_file".to_owned(), reason })
        }
        (Some(variable), None) => Ok(Some(variable.map(KeySource::Environment))),
        (None, kept) => Ok(kept.map(|kept| kept.map(KeySource::File))),
    }
}

fn bounds(section: &mut Section<'_>) -> Result<Bounds, ConfigError> {
    let select = section.list("select", glob)?;
    let grants = section.list("grants", clause)?;
    let within = section.list("within", clause)?;
    let default_grants = section.switch("default_grants")?;
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

fn waiting(mut section: Section<'_>) -> Result<Waiting, ConfigError> {
    let mut waiting = Waiting { retries: section.number("retries", 0..=u32::MAX)?, ..Waiting::default() };
    for (wait, (key, _)) in waiting.waits.iter_mut().zip(WAITS) {
        *wait = section.duration(key.trim_start_matches("patience."))?;
    }
    section.finish()?;
    Ok(waiting)
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
    text.parse().map_err(|error| format!("cannot be read: {error}"))
}

fn glob(text: &str) -> Result<String, String> {
    Selection::parse([text]).map(|_| text.to_owned()).map_err(|error| format!("cannot be read: {error}"))
}

/// Nothing of the text is told: a URL may hold a password.
pub(crate) fn url(text: &str) -> Result<String, String> {
    match is_plain_url(text) {
        true => Ok(text.to_owned()),
        false => Err("has to be http(s)://host/path, without a user, a query or a fragment".to_owned()),
    }
}

/// Nothing of the text is told: it may be the key itself.
fn variable(text: &str) -> Result<String, String> {
    let is_name = !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    match is_name && !text.is_empty() {
        true => Ok(text.to_owned()),
        false => Err("has to be the name of an environment variable, in capitals, and never a key itself".to_owned()),
    }
}

fn directory(text: &str, home: Option<&Path>) -> Result<PathBuf, String> {
    let path = at_home(text, home);
    match path.is_absolute() {
        true => Ok(path),
        false => Err("has to hold absolute paths, or ones that begin with ~/".to_owned()),
    }
}

/// A relative path is one from the directory that the file is in.
fn beside(file: &Path, text: &str, home: Option<&Path>) -> PathBuf {
    let path = at_home(text, home);
    file.parent().map(|folder| folder.join(&path)).unwrap_or(path)
}

fn at_home(text: &str, home: Option<&Path>) -> PathBuf {
    match (text.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    }
}

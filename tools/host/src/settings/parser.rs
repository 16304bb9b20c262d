//! Parsers of values. No error quotes a value that may be a secret.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tools::{Clause, is_plain_url};
use tools_text::KeySource;

use super::origin::Setting;

use crate::duration;

/// Stands for the proxies that the environment names.
pub const ENVIRONMENT: &str = "environment";

/// The folders for paths in values. Without them, paths are relative to the working directory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Base<'a> {
    /// The folder of the settings file.
    pub folder: Option<&'a Path>,
    /// The folder that `~/` stands for.
    pub home: Option<&'a Path>,
}

/// Parses a text, or returns the end of a sentence that begins with the key.
pub type Parser<T> = fn(&str, Base<'_>) -> Result<T, String>;

/// Takes a text that is not blank, without the space around it.
///
/// # Errors
/// Returns the end of a sentence that begins with the key.
pub fn non_blank(text: &str, _: Base<'_>) -> Result<String, String> {
    match text.trim() {
        "" => Err("is empty; set a value, or remove the key".to_owned()),
        text => Ok(text.to_owned()),
    }
}

/// Parses `true` or `false`.
///
/// # Errors
/// Returns the end of a sentence that begins with the key.
pub fn switch(text: &str, _: Base<'_>) -> Result<bool, String> {
    text.parse().map_err(|_| "must be true or false".to_owned())
}

/// Parses a whole number from `LEAST` to `u32::MAX`.
///
/// # Errors
/// Returns the end of a sentence that begins with the key.
pub fn number<const LEAST: u32>(text: &str, _: Base<'_>) -> Result<u32, String> {
    // Another text may be a secret in the wrong place.
    let shown = if text.parse::<f64>().is_ok() {
        text
    } else {
        "a text"
    };
    text.parse()
        .ok()
        .filter(|number| *number >= LEAST)
        .ok_or_else(|| {
            format!(
                "must be a whole number from {LEAST} to {}, not {shown}",
                u32::MAX
            )
        })
}

/// Parses a duration such as `30s`.
///
/// # Errors
/// Returns the end of a sentence that begins with the key.
pub fn time(text: &str, _: Base<'_>) -> Result<Duration, String> {
    duration::parse(text).map_err(|reason| format!("is not a duration: {reason}"))
}

/// Parses a clause of a grant.
///
/// # Errors
/// Returns the end of a sentence that begins with the key.
pub fn clause(text: &str, _: Base<'_>) -> Result<Clause, String> {
    text.parse().map_err(|error| format!("is invalid: {error}"))
}

/// Parses a URL without a user, a query or a fragment.
///
/// # Errors
/// Returns the end of a sentence that begins with the key.
pub fn url(text: &str, _: Base<'_>) -> Result<String, String> {
    let reason = "must be http(s)://host/path, without a user, a query or a fragment";
    accept(text, is_plain_url(text), reason)
}

/// Parses the URL of a proxy, or `environment`.
///
/// # Errors
/// Returns the end of a sentence that begins with the key.
pub fn proxy_url(text: &str, base: Base<'_>) -> Result<String, String> {
    if text == ENVIRONMENT {
        return Ok(text.to_owned());
    }
    url(text, base).map_err(|reason| {
        format!("{reason}, or {ENVIRONMENT} for the proxies of HTTPS_PROXY and HTTP_PROXY")
    })
}

/// Parses a host that may have a port, or a block of addresses: `localhost:8080`, `[::1]` or `10.0.0.0/8`.
///
/// # Errors
/// Returns the end of a sentence that begins with the key.
pub fn host(text: &str, _: Base<'_>) -> Result<String, String> {
    let (host, bits) = text.split_once('/').unwrap_or((text, "0"));
    let is_host = is_plain_url(&format!("http://{host}")) && !host.contains(['*', ',']);
    let reason = "must contain hosts or blocks of addresses, such as localhost:8080 or 10.0.0.0/8";
    accept(text, is_host && bits.parse::<u8>().is_ok(), reason)
}

/// Parses the name of an environment variable in capitals.
///
/// # Errors
/// Returns the end of a sentence that begins with the key.
pub fn variable(text: &str, _: Base<'_>) -> Result<String, String> {
    // A key in place of its variable usually has small letters, and is refused without being repeated.
    let is_name = !text.starts_with(|c: char| c.is_ascii_digit())
        && text
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let reason = "must be the name of an environment variable in capitals, not the key itself";
    accept(text, is_name && !text.is_empty(), reason)
}

/// Parses a path, relative to the folder of the settings file. `~/` stands for the home.
///
/// # Errors
/// Returns the end of a sentence that begins with the key.
pub fn file(text: &str, base: Base<'_>) -> Result<PathBuf, String> {
    let path = at_home(text, base);
    Ok(base.folder.map(|folder| folder.join(&path)).unwrap_or(path))
}

/// Parses an absolute path, or one that begins with `~/`.
///
/// # Errors
/// Returns the end of a sentence that begins with the key.
pub fn directory(text: &str, base: Base<'_>) -> Result<PathBuf, String> {
    let path = at_home(text, base);
    if path.is_absolute() {
        Ok(path)
    } else {
        Err("must contain absolute paths, or paths that begin with ~/".to_owned())
    }
}

fn accept(text: &str, is_accepted: bool, reason: &str) -> Result<String, String> {
    if is_accepted {
        Ok(text.to_owned())
    } else {
        Err(reason.to_owned())
    }
}

fn at_home(text: &str, base: Base<'_>) -> PathBuf {
    match (text.strip_prefix("~/"), base.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    }
}

/// Returns the source of a key that one of two keys names.
pub fn key_source(
    variable: &Option<Setting<String>>,
    file: &Option<Setting<PathBuf>>,
) -> Option<Setting<KeySource>> {
    let variable = variable.clone();
    let variable = variable.map(|name| name.map(KeySource::Environment));
    variable.or_else(|| file.clone().map(|file| file.map(KeySource::File)))
}

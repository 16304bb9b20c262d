//! The services of a program whose tools make no requests.

use tools::{Clause, Services};

use crate::config::{ConfigError, Setting, Settings};

/// Adds nothing.
pub(crate) fn insert(_services: &mut Services, _settings: &Settings) -> Result<(), ConfigError> {
    Ok(())
}

/// Returns no grant.
pub(crate) fn grants(_settings: &Settings) -> Result<Vec<Setting<Clause>>, ConfigError> {
    Ok(Vec::new())
}

/// Warns of nothing.
pub(crate) fn warn_missing(_settings: &Settings) -> Result<(), ConfigError> {
    Ok(())
}

/// Returns no line.
pub(crate) fn report(_settings: &Settings) -> Result<Vec<String>, ConfigError> {
    Ok(Vec::new())
}

/// Returns no fault.
pub(crate) fn faults() -> Vec<(&'static str, String)> {
    Vec::new()
}

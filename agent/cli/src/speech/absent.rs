//! The speech of a program that has no tool for it.

use tools::Services;

use crate::config::{Settings, SettingsError};

/// Adds nothing.
pub(crate) fn insert(_services: &mut Services, _settings: &Settings) -> Result<(), SettingsError> {
    Ok(())
}

/// Returns the settings unchanged.
pub(crate) fn access(settings: Settings) -> Result<Settings, SettingsError> {
    Ok(settings)
}

/// Returns no line.
pub(crate) fn report(
    _services: Option<&Services>,
    _fault: Option<&str>,
    _settings: &Settings,
) -> Result<Vec<String>, SettingsError> {
    Ok(Vec::new())
}

/// Returns no fault.
pub(crate) async fn fault(_services: &Services, _settings: &Settings) -> Option<String> {
    None
}

/// Returns false: no tool needs a backend.
pub(crate) fn is_missing(_services: &Services) -> bool {
    false
}

/// Returns no fault.
pub(crate) fn faults() -> Vec<(&'static str, String)> {
    Vec::new()
}

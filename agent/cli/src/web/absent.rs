//! The services of a program whose tools make no requests.

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

/// Returns the settings unchanged.
pub(crate) fn with_replies(settings: Settings) -> Settings {
    settings
}

/// Warns of nothing.
pub(crate) fn warn_missing(_settings: &Settings) -> Result<(), SettingsError> {
    Ok(())
}

/// Returns no line.
pub(crate) fn report(_settings: &Settings) -> Result<Vec<String>, SettingsError> {
    Ok(Vec::new())
}

/// Returns no warning.
pub(crate) fn missing_channels(_settings: &Settings) -> Vec<String> {
    Vec::new()
}

/// Returns no fault.
pub(crate) fn faults() -> Vec<(&'static str, String)> {
    Vec::new()
}

/// Returns no names, as no tool sends messages.
pub(crate) fn channel_names(_settings: &Settings) -> Option<Vec<&str>> {
    None
}

//! Reads a settings file into a [`Layer`].

use std::path::Path;
use std::sync::Arc;

use tools::policy::Rule;

use super::error::SettingsError;
use super::layer::Layer;
use super::origin::Setting;
use super::section::Section;
use super::values::Values;

/// Reads the text of the file at this absolute path. `~/` stands for `home`.
///
/// # Errors
/// Returns an error if the text is not TOML, or a setting is unknown or has a wrong value.
pub fn layer(path: &Arc<Path>, text: &str, home: Option<&Path>) -> Result<Layer, SettingsError> {
    let mut file = Section::parse(path, text, home)?;
    let values = Values::read(&mut file, false)?;
    let profile = |(name, mut section): (Setting<String>, Section<'_>)| {
        let values = Values::read(&mut section, true)?;
        section.finish()?;
        Ok((
            name.value,
            Setting {
                value: values,
                origin: name.origin,
            },
        ))
    };
    let profiles = file
        .sections("profiles")?
        .into_iter()
        .map(profile)
        .collect::<Result<_, SettingsError>>()?;
    file.finish()?;
    Ok(Layer { values, profiles })
}

/// Reads the text of a file that may contain only `[[policy]]` tables.
pub(super) fn rules(path: &Arc<Path>, text: &str) -> Result<Vec<Setting<Rule>>, SettingsError> {
    let mut file = Section::parse(path, text, None)?;
    let rules = file.tables("policy", |rule: Rule, _| Ok(rule))?;
    file.finish()?;
    Ok(rules)
}

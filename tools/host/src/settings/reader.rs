//! Reads a settings file into a [`Layer`].

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tools::policy::Rule;

use super::error::SettingsError;
use super::origin::Setting;
use super::section::Section;
use super::values::Values;

/// Reads the text of the file at this absolute path. `~/` stands for `home`.
///
/// # Errors
/// Returns an error if the text is not TOML, or a setting is unknown or has a wrong value.
pub fn layer(path: &Arc<Path>, text: &str, home: Option<&Path>) -> Result<Layer, SettingsError> {
    match readable(path, text, home) {
        (layer, None) => Ok(layer),
        (_, Some(mistake)) => Err(mistake),
    }
}

/// Reads what can be read of a text, as [`layer`] does. Returns the first mistake, too.
pub(super) fn readable(
    path: &Arc<Path>,
    text: &str,
    home: Option<&Path>,
) -> (Layer, Option<SettingsError>) {
    let (mut file, mut mistake) = Section::readable(path, text, home);
    // Reading goes on after a mistake, so that the files that the rest names are protected all the same.
    let mut note = |found: Option<SettingsError>| mistake = mistake.take().or(found);
    let (values, found) = Values::read(&mut file, false);
    note(found);
    let sections = file.sections("profiles");
    let mut profiles = BTreeMap::new();
    match sections {
        Ok(sections) => {
            for (name, mut section) in sections {
                let (values, found) = Values::read(&mut section, true);
                note(found.or(section.finish().err()));
                profiles.insert(name.value, Setting::new(values, name.origin));
            }
        }
        Err(found) => note(Some(found)),
    }
    note(file.finish().err());
    (Layer { values, profiles }, mistake)
}

/// Reads the text of a file that may contain only `[[policy]]` tables.
pub(super) fn rules(path: &Arc<Path>, text: &str) -> Result<Vec<Setting<Rule>>, SettingsError> {
    let mut file = Section::parse(path, text, None)?;
    let rules = file.tables("policy", |rule: Rule, _| Ok(rule))?;
    file.finish()?;
    Ok(rules)
}

/// The settings of one source. Unset ones leave the lower layers in effect.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    /// The values of the file's keys, without those of its profiles.
    pub values: Values,
    /// The profiles by name. Only keys that a profile accepts are set.
    pub(super) profiles: BTreeMap<String, Setting<Values>>,
}

impl Layer {
    /// Applies a higher layer. Its profiles replace those of the same name.
    pub(super) fn apply(&mut self, upper: Self) {
        self.values.apply(upper.values);
        self.profiles.extend(upper.profiles);
    }
}

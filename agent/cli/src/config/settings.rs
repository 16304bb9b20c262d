//! [`Settings`]: the effective settings, merged from files and command line.

use std::path::Path;
use std::time::Duration;

use agent::driver::DEFAULT_MAX_STEPS;
use agent::{KeySource, RetryPolicy, Timeouts};
use tools::policy::Rule;
use tools::{Clause, Grant};

use super::error::ConfigError;
use super::file::ConfigFile;
use super::layer::{Bounds, DURATIONS, Layer, RequestSettings};
use super::origin::{Origin, Setting};
use crate::folders;

/// The default grants: reading below the root, and reading the clock.
const DEFAULT_GRANTS: [&str; 2] = ["fs:read:**", "clock:read:**"];

/// The effective settings, each with its origin. `None` means not set.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) provider: Option<Setting<String>>,
    pub(crate) model: Option<Setting<String>>,
    pub(crate) base_url: Option<Setting<String>>,
    pub(crate) key: Option<Setting<KeySource>>,
    pub(crate) streaming: Option<Setting<bool>>,
    pub(crate) profile: Option<Setting<String>>,
    pub(crate) select: Option<Setting<Vec<String>>>,
    pub(crate) default_grants: Setting<bool>,
    /// All grants, including the default ones.
    pub(crate) grants: Vec<Setting<Clause>>,
    /// Each list narrows the grants of the files.
    pub(crate) within: Vec<Setting<Vec<Clause>>>,
    pub(crate) max_steps: Setting<u32>,
    pub(crate) call_timeout: Option<Setting<Duration>>,
    pub(crate) requests: RequestSettings,
    /// The rules of all files: the strictest matching rule applies.
    pub(crate) policy: Vec<Setting<Rule>>,
    /// The searched files, existing or not.
    pub(crate) files: Vec<ConfigFile>,
}

impl Settings {
    /// Merges layers in ascending precedence. The last one is the command line.
    pub(super) fn from_layers(mut layers: Vec<Layer>, files: Vec<ConfigFile>) -> Result<Self, ConfigError> {
        let profile = layers.iter().rev().find_map(|layer| layer.profile.clone());
        let chosen = profile.as_ref().map(|name| take_profile(&mut layers, name)).transpose()?;
        let flags = layers.pop().unwrap_or_default();
        let mut settings = Self::defaults(profile, files);
        let mut bounds = Vec::new();
        for mut layer in layers {
            bounds.push(std::mem::take(&mut layer.bounds));
            settings.merge(layer)?;
        }
        bounds.extend(chosen);
        bounds.into_iter().for_each(|bounds| settings.merge_bounds(bounds));
        settings.merge_flags(flags)?;
        Ok(settings)
    }

    /// Returns the grant of the session. `within` narrows the grants of files and defaults, not those of flags.
    pub(crate) fn grant(&self) -> Grant {
        let clause = |setting: &Setting<Clause>| setting.value.clone();
        let from_flags = || self.grants.iter().filter(|grant| matches!(grant.origin, Origin::Flag(_))).map(clause);
        let all = Grant::new(self.grants.iter().map(clause));
        self.within.iter().fold(all, |grant, within| grant.narrowed(within.value.iter().cloned().chain(from_flags())))
    }

    /// Returns the searched files and the key file. The user's file is left out, because no tool can reach it.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Path> {
        let key = self.key.as_ref().and_then(|key| match &key.value {
            KeySource::File(path) => Some(path.as_path()),
            _ => None,
        });
        let files = self.files.iter().filter(|file| file.role != "user");
        files.map(|file| file.path.as_path()).chain(key)
    }

    /// Returns the timeouts and retries of provider requests.
    pub(crate) fn request_policy(&self) -> (Timeouts, RetryPolicy) {
        let mut policy = (Timeouts::default(), RetryPolicy::default());
        for ((_, field), setting) in DURATIONS.into_iter().zip(&self.requests.durations) {
            setting.iter().for_each(|setting| *field(&mut policy) = setting.value);
        }
        if let Some(retries) = &self.requests.max_retries {
            policy.1.max_retries = usize::try_from(retries.value).unwrap_or(usize::MAX);
        }
        policy
    }

    fn defaults(profile: Option<Setting<String>>, files: Vec<ConfigFile>) -> Self {
        let defaults = DEFAULT_GRANTS.iter().filter_map(|clause| clause.parse().ok());
        Self {
            profile,
            default_grants: Setting::from_default(true),
            grants: defaults.map(Setting::from_default).collect(),
            max_steps: Setting::from_default(DEFAULT_MAX_STEPS),
            files,
            ..Self::default()
        }
    }

    /// Merges a layer except its bounds. Another provider does not inherit the model, base URL or key.
    fn merge(&mut self, layer: Layer) -> Result<(), ConfigError> {
        if let Some(named) = layer.provider {
            if self.provider.as_ref().is_none_or(|provider| provider.value != named.value) {
                (self.model, self.base_url, self.key) = (None, None, None);
            }
            self.provider = Some(named);
        }
        let provider_keys = [
            ("model", layer.model.as_ref().map(|setting| &setting.origin)),
            ("base_url", layer.base_url.as_ref().map(|setting| &setting.origin)),
            ("the key source", layer.key.as_ref().map(|setting| &setting.origin)),
        ];
        if self.provider.is_none()
            && let Some((key, Some(origin))) = provider_keys.into_iter().find(|(_, origin)| origin.is_some())
        {
            return Err(ConfigError::NoProvider { origin: origin.clone(), key });
        }
        override_with(&mut self.model, layer.model);
        override_with(&mut self.base_url, layer.base_url);
        override_with(&mut self.key, layer.key);
        override_with(&mut self.streaming, layer.streaming);
        override_with(&mut self.requests.max_retries, layer.requests.max_retries);
        self.requests
            .durations
            .iter_mut()
            .zip(layer.requests.durations)
            .for_each(|(lower, upper)| override_with(lower, upper));
        self.policy.extend(layer.policy);
        Ok(())
    }

    /// Merges bounds: grants and `within` lists accumulate, other values are replaced.
    fn merge_bounds(&mut self, bounds: Bounds) {
        override_with(&mut self.select, bounds.select);
        override_with(&mut self.call_timeout, bounds.call_timeout);
        if let Some(max_steps) = bounds.max_steps {
            self.max_steps = max_steps;
        }
        if let Some(default_grants) = bounds.default_grants {
            self.default_grants = default_grants;
        }
        self.grants.extend(bounds.grants);
        self.within.extend(bounds.within);
    }

    /// Merges the command line. `--no-default-grants` drops every grant except those of flags.
    fn merge_flags(&mut self, mut flags: Layer) -> Result<(), ConfigError> {
        let bounds = std::mem::take(&mut flags.bounds);
        if bounds.default_grants.as_ref().is_some_and(|setting| !setting.value) {
            self.grants.clear();
            self.within.clear();
        }
        self.merge(flags)?;
        self.merge_bounds(bounds);
        if !self.default_grants.value {
            self.grants.retain(|grant| grant.origin != Origin::Default);
        }
        Ok(())
    }
}

fn override_with<T>(lower: &mut Option<T>, upper: Option<T>) {
    if upper.is_some() {
        *lower = upper;
    }
}

/// Takes the profile from the highest layer that has one of this name.
fn take_profile(layers: &mut [Layer], name: &Setting<String>) -> Result<Bounds, ConfigError> {
    if let Some(profile) = layers.iter_mut().rev().find_map(|layer| layer.profiles.remove(&name.value)) {
        return Ok(profile.value);
    }
    let known: Vec<_> = layers.iter().flat_map(|layer| layer.profiles.keys().map(String::as_str)).collect();
    let advice = match known.is_empty() {
        true => format!("add a table [profiles.{}] to {}", name.value, folders::settings_name()),
        false => format!("the profiles are {}", known.join(", ")),
    };
    Err(ConfigError::Profile { origin: name.origin.clone(), name: name.value.clone(), advice })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_grants_are_clauses() {
        assert_eq!(Grant::parse(DEFAULT_GRANTS).unwrap().clauses().count(), DEFAULT_GRANTS.len());
    }
}

//! [`Settings`]: what holds, of everything that the files and the command line say.

use std::path::Path;
use std::time::Duration;

use agent::driver::DEFAULT_MAX_STEPS;
use agent::{KeySource, RetryPolicy, Timeouts};
use tools::policy::Rule;
use tools::{Clause, Grant};

use super::error::ConfigError;
use super::file::Looked;
use super::layer::{Bounds, Layer, WAITS, Waiting};
use super::origin::{Origin, Setting};

/// The default grants: reading below the root, and the clock.
const DEFAULT_GRANTS: [&str; 2] = ["fs:read:**", "clock:read:**"];

/// What holds, and who said it. Where nobody has to say anything there may be nothing.
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
    /// All of them, those that hold by default among them.
    pub(crate) grants: Vec<Setting<Clause>>,
    /// Each narrows what the files grant.
    pub(crate) within: Vec<Setting<Vec<Clause>>>,
    pub(crate) max_steps: Setting<u32>,
    pub(crate) call_timeout: Option<Setting<Duration>>,
    pub(crate) waiting: Waiting,
    /// Rules about calls, of all files: the strictest that applies holds.
    pub(crate) policy: Vec<Setting<Rule>>,
    /// The files that were looked for.
    pub(crate) files: Vec<Looked>,
}

impl Settings {
    /// What holds of layers, the lowest first. The last one is the command line.
    pub(super) fn of(mut layers: Vec<Layer>, files: Vec<Looked>) -> Result<Self, ConfigError> {
        let profile = layers.iter().rev().find_map(|layer| layer.profile.clone());
        let chosen = profile.as_ref().map(|name| profile_of(&mut layers, name)).transpose()?;
        let flags = layers.pop().unwrap_or_default();
        let mut settings = Self::by_default(profile, files);
        let mut bounds = Vec::new();
        for mut layer in layers {
            bounds.push(std::mem::take(&mut layer.bounds));
            settings.take(layer)?;
        }
        bounds.extend(chosen);
        bounds.into_iter().for_each(|bounds| settings.bound(bounds));
        settings.command(flags)?;
        Ok(settings)
    }

    /// What calls may touch. What the command line grants lies outside of what the files narrow.
    pub(crate) fn grant(&self) -> Grant {
        let clause = |setting: &Setting<Clause>| setting.value.clone();
        let commanded = || self.grants.iter().filter(|grant| matches!(grant.origin, Origin::Flag(_))).map(clause);
        let all = Grant::new(self.grants.iter().map(clause));
        self.within.iter().fold(all, |grant, within| grant.narrowed(within.value.iter().cloned().chain(commanded())))
    }

    /// The files that were looked for, and the one that the key is in. Not the user's, which no tool reaches.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Path> {
        let key = self.key.as_ref().and_then(|key| match &key.value {
            KeySource::File(path) => Some(path.as_path()),
            _ => None,
        });
        let files = self.files.iter().filter(|file| file.role != "user");
        files.map(|file| file.path.as_path()).chain(key)
    }

    /// How long a service may take, and how often it is asked again.
    pub(crate) fn patience(&self) -> (Timeouts, RetryPolicy) {
        let mut patience = (Timeouts::default(), RetryPolicy::default());
        for ((_, wait), setting) in WAITS.into_iter().zip(&self.waiting.waits) {
            setting.iter().for_each(|setting| *wait(&mut patience) = setting.value);
        }
        if let Some(retries) = &self.waiting.retries {
            patience.1.max_retries = usize::try_from(retries.value).unwrap_or(usize::MAX);
        }
        patience
    }

    fn by_default(profile: Option<Setting<String>>, files: Vec<Looked>) -> Self {
        let defaults = DEFAULT_GRANTS.iter().filter_map(|clause| clause.parse().ok());
        Self {
            profile,
            default_grants: Setting::by_default(true),
            grants: defaults.map(Setting::by_default).collect(),
            max_steps: Setting::by_default(DEFAULT_MAX_STEPS),
            files,
            ..Self::default()
        }
    }

    /// Puts what a layer says over what is there, but for its bounds. What was said of one provider is not taken for another:
    /// neither its model nor its place, and least of all its key.
    fn take(&mut self, layer: Layer) -> Result<(), ConfigError> {
        if let Some(named) = layer.provider {
            if self.provider.as_ref().is_none_or(|provider| provider.value != named.value) {
                (self.model, self.base_url, self.key) = (None, None, None);
            }
            self.provider = Some(named);
        }
        let of_provider = [
            ("model", layer.model.as_ref().map(|setting| &setting.origin)),
            ("base_url", layer.base_url.as_ref().map(|setting| &setting.origin)),
            ("the place of a key", layer.key.as_ref().map(|setting| &setting.origin)),
        ];
        if self.provider.is_none()
            && let Some((key, Some(origin))) = of_provider.into_iter().find(|(_, origin)| origin.is_some())
        {
            return Err(ConfigError::NoProvider { origin: origin.clone(), key });
        }
        over(&mut self.model, layer.model);
        over(&mut self.base_url, layer.base_url);
        over(&mut self.key, layer.key);
        over(&mut self.streaming, layer.streaming);
        over(&mut self.waiting.retries, layer.waiting.retries);
        self.waiting.waits.iter_mut().zip(layer.waiting.waits).for_each(|(lower, upper)| over(lower, upper));
        self.policy.extend(layer.policy);
        Ok(())
    }

    /// Grants add up and narrowings add up; of the rest the last word holds.
    fn bound(&mut self, bounds: Bounds) {
        over(&mut self.select, bounds.select);
        over(&mut self.call_timeout, bounds.call_timeout);
        if let Some(max_steps) = bounds.max_steps {
            self.max_steps = max_steps;
        }
        if let Some(default_grants) = bounds.default_grants {
            self.default_grants = default_grants;
        }
        self.grants.extend(bounds.grants);
        self.within.extend(bounds.within);
    }

    /// The command line. Its `--no-default-grants` leaves nothing but what it grants itself.
    fn command(&mut self, mut flags: Layer) -> Result<(), ConfigError> {
        let bounds = std::mem::take(&mut flags.bounds);
        if bounds.default_grants.as_ref().is_some_and(|setting| !setting.value) {
            self.grants.clear();
            self.within.clear();
        }
        self.take(flags)?;
        self.bound(bounds);
        if !self.default_grants.value {
            self.grants.retain(|grant| grant.origin != Origin::Default);
        }
        Ok(())
    }
}

fn over<T>(lower: &mut Option<T>, upper: Option<T>) {
    if upper.is_some() {
        *lower = upper;
    }
}

/// The profile of that name; the one of a higher layer where several have it.
fn profile_of(layers: &mut [Layer], name: &Setting<String>) -> Result<Bounds, ConfigError> {
    if let Some(profile) = layers.iter_mut().rev().find_map(|layer| layer.profiles.remove(&name.value)) {
        return Ok(profile.value);
    }
    let known: Vec<_> = layers.iter().flat_map(|layer| layer.profiles.keys().map(String::as_str)).collect();
    let advice = match known.is_empty() {
        true => format!("write a table [profiles.{}] into toolcrib.toml", name.value),
        false => format!("there are {}", known.join(", ")),
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

//! [`Settings`]: the effective settings, merged from files, environment and command line.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use agent::{InvalidSelection, RetryPolicy, Selection, Timeouts};
use tools::policy::Rule;
use tools::{Clause, Grant};

use super::error::ConfigError;
use super::file::ConfigFile;
use super::keys::Values;
use super::layer::Layer;
use super::named_files::NamedFiles;
use super::origin::{Origin, Setting};
use crate::folders;
use crate::trust::Unapproved;

/// The effective settings, each with its origin, and the searched files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    values: Values,
    /// Grants that follow from other settings. No person named them, so they are no consent.
    implied: Vec<Setting<Clause>>,
    /// The values of lower layers whose provider a higher layer replaced. Their keys still belong to their services.
    pub(crate) replaced: Vec<Values>,
    /// The grant of a job, which limits the others, and its rules.
    job: Option<(Grant, Vec<Rule>)>,
    /// The files that settings name, also those that do not apply to this session.
    named: NamedFiles,
    /// Files of the command that no tool may reach.
    hidden: Vec<PathBuf>,
    /// Files of the command that decide what tools may do.
    control: Vec<PathBuf>,
    /// The searched files, existing or not.
    pub(crate) files: Vec<ConfigFile>,
}

impl Deref for Settings {
    type Target = Values;

    fn deref(&self) -> &Values {
        &self.values
    }
}

impl Settings {
    /// Returns the settings of the command line and the defaults.
    #[cfg(test)]
    pub(crate) fn from_flags(flags: Values) -> Self {
        Self::from_layers(Vec::new(), Values::default(), flags, Vec::new()).unwrap()
    }

    /// Merges the layers of files in ascending precedence, then the profile, the environment and the flags.
    pub(super) fn from_layers(
        mut layers: Vec<Layer>,
        environment: Values,
        flags: Values,
        files: Vec<ConfigFile>,
    ) -> Result<Self, ConfigError> {
        let of_files = layers.iter().rev().map(|layer| &layer.values);
        let profile = [&flags, &environment].into_iter().chain(of_files).find_map(|values| values.profile.clone());
        let profile = profile.map(|name| take_profile(&mut layers, &name)).transpose()?;
        let mut named = NamedFiles::default();
        layers.iter().for_each(|layer| named.add(&layer.values));
        [&environment, &flags].into_iter().for_each(|values| named.add(values));
        let mut settings = Self { files, named, ..Self::default() };
        for values in layers.into_iter().map(|layer| layer.values).chain(profile).chain([environment]) {
            settings.merge(values)?;
        }
        // --no-default-grants drops every grant except those of flags.
        if flags.default_grants.origin != Origin::Default && !flags.default_grants.value {
            settings.values.grants.clear();
            settings.values.within.clear();
        }
        settings.merge(flags)?;
        if !settings.default_grants.value {
            settings.values.grants.retain(|grant| grant.origin != Origin::Default);
        }
        Ok(settings)
    }

    /// Sets the provider if no layer names one. Then no layer has a model, URL or key either, so the key goes to the provider's
    /// own service.
    pub(super) fn or_provider(mut self, provider: Option<Setting<String>>) -> Self {
        self.values.provider = self.values.provider.or(provider);
        self
    }

    /// Protects the files that these layers name, although their settings do not apply.
    pub(super) fn with_unapplied(mut self, layers: &[Layer]) -> Self {
        layers.iter().for_each(|layer| self.named.add(&layer.values));
        self
    }

    /// Sets the provider.
    #[cfg(feature = "journal")]
    pub(crate) fn with_provider(mut self, provider: Setting<String>) -> Self {
        self.values.provider = Some(provider);
        self
    }

    /// Sets the model, or unsets it.
    #[cfg(feature = "journal")]
    pub(crate) fn with_model(mut self, model: Option<Setting<String>>) -> Self {
        self.values.model = model;
        self
    }

    /// Adds a default grant, which may have the origin of another setting.
    pub(crate) fn with_default_grant(mut self, clause: Setting<Clause>) -> Self {
        if self.default_grants.value {
            self.implied.push(clause);
        }
        self
    }

    /// Adds a rule that follows from another setting.
    #[cfg(feature = "web")]
    pub(crate) fn with_rule(mut self, rule: Setting<Rule>) -> Self {
        self.values.policy.push(rule);
        self
    }

    /// Limits the grant to that of a job, and adds its rules.
    #[cfg(feature = "cron")]
    pub(crate) fn within_job(self, grant: Grant, rules: Vec<Rule>) -> Self {
        Self { job: Some((grant, rules)), ..self }
    }

    /// Hides these files of the command from tools, inside or outside the root.
    pub(crate) fn with_hidden_files(mut self, files: impl IntoIterator<Item = PathBuf>) -> Self {
        self.hidden.extend(files);
        self
    }

    /// Adds files of the command that decide what tools may do: each write or removal needs approval.
    pub(crate) fn with_control_files(mut self, files: impl IntoIterator<Item = PathBuf>) -> Self {
        self.control.extend(files);
        self
    }

    /// Returns the grant of the session. `within` narrows the grants of files and defaults, not those of flags.
    pub(crate) fn grant(&self) -> Grant {
        let is_flag = |grant: &&Setting<Clause>| matches!(grant.origin, Origin::Flag(_));
        let labelled = |grant: &Setting<Clause>| grant.labelled(Clause::with_origin);
        let from_flags = || self.grants.iter().filter(is_flag).map(labelled);
        let all = Grant::new(self.grants.iter().chain(&self.implied).map(labelled));
        let within = |grant: Grant, within: &_| grant.narrowed(Setting::labelled_clauses(within).chain(from_flags()));
        let grant = self.within.iter().fold(all, within);
        self.job.iter().fold(grant, |grant, (job, _)| grant.intersect(job))
    }

    /// Returns the rules of the policy that a person can change, and those of the job.
    pub(crate) fn rules(&self) -> impl Iterator<Item = Rule> {
        let of_job = self.job.iter().flat_map(|(_, rules)| rules).cloned();
        self.policy.iter().map(|rule| rule.labelled(Rule::with_origin)).chain(of_job)
    }

    /// Returns the rules that choose the session's tools.
    pub(crate) fn selection(&self) -> Result<Selection, InvalidSelection> {
        Selection::parse(self.select.iter().flat_map(|select| &select.value))
    }

    /// Returns the searched files, the key files and certificates, and those of the command that decide what tools may do. The user's file
    /// is left out, because no tool can reach it.
    pub(crate) fn control_files(&self) -> impl Iterator<Item = &Path> {
        let files = self.files.iter().filter(|file| file.role != "user").map(|file| file.path.as_path());
        files.chain(self.named.control()).chain(self.control.iter().map(PathBuf::as_path))
    }

    /// Returns the files of the secrets of tools' requests and of the channels, which no tool may read.
    pub(crate) fn secret_files(&self) -> impl Iterator<Item = &Path> {
        self.named.secret()
    }

    /// Returns the folders of skills of the user's file and of approved ones of projects, also those that this session does not use.
    #[cfg(feature = "skill")]
    pub(crate) fn named_skill_folders(&self) -> &[PathBuf] {
        self.named.skills()
    }

    /// Returns the files that a session in this root hides: those of the command, and the [`secret_files`](Self::secret_files). Leaves out
    /// a folder around the root, which is a mistake: the channel or the secret says so where it is used.
    pub(crate) fn hidden_files(&self, root: &str) -> impl Iterator<Item = &Path> {
        let is_around = move |file: &&Path| file.canonicalize().is_ok_and(|file| Path::new(root).starts_with(file));
        self.hidden.iter().map(PathBuf::as_path).chain(self.secret_files().filter(move |file| !is_around(file)))
    }

    /// Returns the contents of the project's files that nobody has approved.
    pub(crate) fn unapproved(&self) -> impl Iterator<Item = &Unapproved> {
        self.files.iter().filter_map(|file| file.unapproved.as_ref())
    }

    /// Returns the timeouts and retries of provider requests.
    pub(crate) fn request_policy(&self) -> (Timeouts, RetryPolicy) {
        let mut timeouts = Timeouts::default();
        timeouts.connect = self.requests.connect.value;
        timeouts.first_byte = self.requests.first_byte.value;
        timeouts.idle = self.requests.idle.value;
        let mut retries = RetryPolicy::default();
        retries.max_retries = usize::try_from(self.requests.max_retries.value).unwrap_or(usize::MAX);
        retries.first_delay = self.requests.first_delay.value;
        retries.longest_delay = self.requests.longest_delay.value;
        (timeouts, retries)
    }

    /// Merges the values of a higher layer.
    fn merge(&mut self, upper: Values) -> Result<(), ConfigError> {
        for (variable, file, [variable_key, file_key]) in [
            (&upper.key_env, &upper.key_file, ["key_env", "key_file"]),
            (
                &upper.network.search_key_env,
                &upper.network.search_key_file,
                ["web.search_key_env", "web.search_key_file"],
            ),
            (&upper.speech.key_env, &upper.speech.key_file, ["tts.key_env", "tts.key_file"]),
        ] {
            if let (Some(_), Some(file)) = (variable, file) {
                let reason = format!("conflicts with {variable_key}; remove one of them");
                return Err(ConfigError::Value { origin: file.origin.clone(), key: file_key.to_owned(), reason });
            }
        }
        if self.provider.is_some() && self.provider_changes(&upper) {
            self.replaced.push(self.values.clone());
        }
        self.values.apply(upper);
        let of_provider =
            self.rows().into_iter().find(|(key, _, origin)| key.of_provider && *origin != Origin::Default);
        match of_provider.filter(|_| self.provider.is_none()) {
            Some((key, _, origin)) => Err(ConfigError::NoProvider { origin, key: key.name }),
            None => Ok(()),
        }
    }
}

/// Takes the profile from the highest layer that has one of this name.
fn take_profile(layers: &mut [Layer], name: &Setting<String>) -> Result<Values, ConfigError> {
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

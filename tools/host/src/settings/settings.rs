//! [`Settings`]: the effective settings, merged from files, environment and command line.

use std::path::{Path, PathBuf};

use tools::policy::{Rule, Verdict};
use tools::protocol::InvalidClause;
use tools::{Clause, Grant, Target};

use super::access::AccessKeys;
use super::always::Always;
use super::error::SettingsError;
use super::file::SettingsFile;
use super::key::FileUse;
use super::origin::{Origin, Setting};
use super::reader::Layer;
use super::values::{KeySet, Values};
use crate::trust::Unapproved;
use crate::{extension, folders};

/// The effective settings, each with its origin, and the searched files.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Settings {
    values: Values,
    /// Grants that follow from other settings. No person named them, so they are no consent.
    implied: Vec<Setting<Clause>>,
    /// The clauses of harmless commands, if the session has them.
    harmless: Vec<Clause>,
    /// The values of lower layers in which a higher one replaced an owner that its keys need, such as the provider of a URL.
    pub replaced: Vec<Values>,
    /// The grant of a job, which limits the others, and its rules. `None` if the session runs none.
    pub job: Option<(Grant, Vec<Rule>)>,
    /// The values of each layer, and of those that do not apply to this session. The files that they name are protected all the same, because
    /// the next session may use them.
    named: Vec<Values>,
    /// Files of the command that no tool may reach, inside or outside the root.
    pub hidden: Vec<PathBuf>,
    /// Files of the command that decide what tools may do.
    control: Vec<PathBuf>,
    /// The root of the session, with links resolved.
    root: Option<PathBuf>,
    /// True if the session does not read the files of the user and the project, as with `--config` and `--no-config`.
    pub ignores_project: bool,
    /// Folders that programs in the root may not create, because the next session reads them.
    pub reserved: Vec<PathBuf>,
    /// The places whose content other programs run.
    pub sensitive: Vec<SensitivePlace>,
    /// The searched files, existing or not.
    files: Vec<SettingsFile>,
}

impl Settings {
    /// Returns the settings of flags and the defaults.
    ///
    /// # Errors
    /// Returns an error if the flags contradict each other.
    pub fn from_flags(flags: Values) -> Result<Self, SettingsError> {
        Self::from_layers(Vec::new(), Values::default(), flags, Vec::new())
    }

    /// Merges the layers of files in ascending precedence, then the profile, the environment and the flags.
    ///
    /// # Errors
    /// Returns an error if a layer contradicts itself, or names a profile that no file has.
    pub fn from_layers(
        mut layers: Vec<Layer>,
        environment: Values,
        flags: Values,
        files: Vec<SettingsFile>,
    ) -> Result<Self, SettingsError> {
        let of_files = layers.iter().rev().map(|layer| &layer.values);
        let profile = [&flags, &environment]
            .into_iter()
            .chain(of_files)
            .find_map(|values| values.of::<AccessKeys>().profile.clone());
        let profile = profile.map(|name| take_profile(&mut layers, &name));
        let profile = profile.transpose()?;
        let named = layers.iter().map(|layer| &layer.values);
        let named = named.chain([&environment, &flags]).cloned().collect();
        let mut settings = Self {
            files,
            named,
            ..Self::default()
        };
        let lower = layers.into_iter().map(|layer| layer.values).chain(profile);
        for values in lower.chain([environment]) {
            settings.merge(values)?;
        }
        // --no-default-grants drops every grant except those of flags.
        let of_flags = &flags.of::<AccessKeys>().default_grants;
        if of_flags.origin != Origin::Default && !of_flags.value {
            let access: &mut AccessKeys = settings.values.of_mut();
            access.grants.clear();
            access.within.clear();
        }
        settings.merge(flags)?;
        if !settings.access().default_grants.value {
            let grants = &mut settings.values.of_mut::<AccessKeys>().grants;
            grants.retain(|grant| grant.origin != Origin::Default);
        }
        Ok(settings)
    }

    /// Returns the values of a set of keys. Those of a family that is not linked are unset.
    pub fn of<K: KeySet>(&self) -> &K {
        self.values.of()
    }

    /// Returns the values of all keys.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Changes the values of a set of keys.
    pub fn edit<K: KeySet + Default>(mut self, change: impl FnOnce(&mut K)) -> Self {
        change(self.values.of_mut());
        self
    }

    /// Protects the files that these layers name, although their settings do not apply.
    pub fn with_unapplied(mut self, layers: Vec<Layer>) -> Self {
        self.named
            .extend(layers.into_iter().map(|layer| layer.values));
        self
    }

    /// Returns the values of each layer, also where another one has the last word, and of those that do not apply to this session. Those of
    /// profiles are left out.
    pub fn layers(&self) -> &[Values] {
        &self.named
    }

    /// Returns the searched files, existing or not.
    pub fn files(&self) -> &[SettingsFile] {
        &self.files
    }

    /// Adds a default grant, which may have the origin of another setting.
    pub fn with_default_grant(mut self, clause: Setting<Clause>) -> Self {
        let is_known = self.implied.iter().any(|known| known.value == clause.value);
        if self.access().default_grants.value && !is_known {
            self.implied.push(clause);
        }
        self
    }

    /// Adds what a session has that a person starts: the [`Always`] entries of its root, and the harmless commands of families. Sessions that
    /// messages, times or clients start do not have it, because nobody looks at them and strangers can have written their prompts.
    pub fn attended(self) -> Self {
        let always = self.access().always.clone();
        let mut settings = self.with_always(always);
        if !settings.access().harmless_commands.value {
            return settings;
        }
        for clause in extension::harmless(&settings) {
            settings = settings.with_default_grant(Setting::from_default(clause.clone()));
            settings.harmless.push(clause);
        }
        settings
    }

    /// Grants the clauses of those entries whose root is that of the session. --no-default-grants drops them, as it does all that files grant.
    pub fn with_always(mut self, entries: impl IntoIterator<Item = Setting<Always>>) -> Self {
        let root = self.root.clone();
        let access: &mut AccessKeys = self.values.of_mut();
        let of_flags = &access.default_grants;
        let is_dropped = matches!(of_flags.origin, Origin::Flag(_)) && !of_flags.value;
        // Both paths have their links resolved, so a link in the place of a root does not get what the root has.
        let entries = entries
            .into_iter()
            .filter(|entry| !is_dropped && Some(&entry.value.root) == root.as_ref());
        access
            .grants
            .extend(entries.map(|entry| entry.map(|always| always.clause)));
        self
    }

    /// Returns the clauses of the harmless commands that the session runs without a question.
    pub fn harmless(&self) -> &[Clause] {
        &self.harmless
    }

    /// Adds a rule that follows from another setting.
    pub fn with_rule(mut self, rule: Setting<Rule>) -> Self {
        self.values.of_mut::<AccessKeys>().policy.push(rule);
        self
    }

    /// Adds the grants and rules for the targets of a service, which only this tool reaches. `named` is the setting of `key` that names the
    /// service.
    ///
    /// A clause does not name the host of a target, so that other tools ask about it as about any host.
    ///
    /// # Errors
    /// Returns an error if a target cannot stand in a clause.
    pub fn with_targets<T>(
        mut self,
        targets: &[Target],
        tool: &str,
        key: &str,
        named: &Setting<T>,
    ) -> Result<Self, SettingsError> {
        for target in targets {
            let mut clause = target.to_clause();
            // Without braces, the grant would let every tool reach the host: braces name no host, and the rule names the tool.
            if target.scheme() == "net" {
                let rule = Rule::new(Verdict::Allow, Some(tool), Some(clause));
                let rule = rule.map_err(|error| SettingsError::unusable(key, named, error))?;
                self = self.with_rule(Setting::new(rule, named.origin.clone()));
                clause = brace_clause(target)
                    .map_err(|error| SettingsError::unusable(key, named, error))?;
            }
            self = self.with_default_grant(Setting::new(clause, named.origin.clone()));
        }
        Ok(self)
    }

    /// Limits the grant to that of a job, and adds its rules.
    pub fn within_job(self, grant: Grant, rules: Vec<Rule>) -> Self {
        let job = Some((grant, rules));
        Self { job, ..self }
    }

    /// Sets the root of the session, with links resolved.
    pub fn with_root(mut self, root: PathBuf) -> Self {
        self.root = Some(root);
        self
    }

    /// Returns the root of the session. Returns `None` if there is none that can be used.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Adds files of the command that decide what tools may do: each write or removal needs approval.
    pub fn with_control_files(mut self, files: impl IntoIterator<Item = PathBuf>) -> Self {
        self.control.extend(files);
        self
    }

    /// Returns the grant of the session. `within` narrows the grants of files and defaults, not those of flags.
    pub fn grant(&self) -> Grant {
        let access = self.access();
        let of_flags = access.grants.iter();
        let of_flags = of_flags.filter(|grant| matches!(grant.origin, Origin::Flag(_)));
        let all = access.grants.iter().chain(&self.implied);
        let all = Grant::new(all.map(|grant| grant.label_with(Clause::with_origin)));
        let grant = access.within.iter().fold(all, |grant, within| {
            let of_flags = of_flags.clone();
            let of_flags = of_flags.map(|grant| grant.label_with(Clause::with_origin));
            grant.narrow(Setting::labelled_clauses(within).chain(of_flags))
        });
        self.job
            .iter()
            .fold(grant, |grant, (job, _)| grant.intersect(job))
    }

    /// Returns the rules of the policy that a person can change, and those of the job.
    pub fn rules(&self) -> impl Iterator<Item = Rule> {
        let of_job = self.job.iter().flat_map(|(_, rules)| rules).cloned();
        self.access()
            .policy
            .iter()
            .map(|rule| rule.label_with(Rule::with_origin))
            .chain(of_job)
    }

    /// Returns the searched files, those that keys of [control files](super::Key::of_control_file) name, and those of the command that decide
    /// what tools may do. The user's file is left out, because no tool can reach it.
    pub fn control_files(&self) -> impl Iterator<Item = &Path> {
        let files = self
            .files
            .iter()
            // The user's own file is hidden altogether.
            .filter(|file| file.role != "user")
            .map(|file| file.path.as_path());
        let named = self.named.iter();
        let named = named.flat_map(|values| values.files(FileUse::Control));
        files
            .chain(named)
            .chain(self.control.iter().map(PathBuf::as_path))
    }

    /// Returns the files that hold secrets, which no tool may read: those that keys name, and those of the linked families.
    pub fn secret_files(&self) -> Vec<PathBuf> {
        let families = extension::list();
        let files = self.named.iter().flat_map(|values| {
            let of_families = families
                .iter()
                .flat_map(|extension| (extension.parts.secret_files)(values));
            values
                .files(FileUse::Secret)
                .map(PathBuf::from)
                .chain(of_families)
                .collect::<Vec<_>>()
        });
        files.collect()
    }

    /// Returns the paths that a session in this root hides: the program's own folders, the files of the command, and those that hold
    /// secrets. Leaves out a folder around the root, which is a mistake: the channel or the secret says so where it is used.
    pub fn paths_hidden_in(&self, root: &Path) -> Vec<PathBuf> {
        let is_around =
            |file: &PathBuf| file.canonicalize().is_ok_and(|file| root.starts_with(file));
        let of_secrets = self
            .secret_files()
            .into_iter()
            // A secret file that is a folder around the root would hide the whole workspace.
            .filter(|file| !is_around(file));
        folders::own()
            .chain(self.hidden.iter().cloned())
            .chain(of_secrets)
            .collect()
    }

    /// Returns the contents of the project's files that nobody has approved.
    pub fn list_unapproved(&self) -> impl Iterator<Item = &Unapproved> {
        self.files
            .iter()
            .filter_map(|file| file.unapproved.as_ref())
    }

    fn access(&self) -> &AccessKeys {
        self.of()
    }

    /// Merges the values of a higher layer.
    fn merge(&mut self, upper: Values) -> Result<(), SettingsError> {
        // Of two that exclude each other, the second is named.
        let pairs = Values::keys()
            .filter_map(|key| Some((key.name, upper.origin(key.name)?, key.instead_of?)));
        if let Some((key, origin, other)) = pairs
            .filter(|(_, _, other)| upper.origin(other).is_some())
            .last()
        {
            let reason = format!("conflicts with {other}; remove one of them");
            return Err(SettingsError::value(origin, key, reason));
        }
        let owners = Values::keys().filter(|key| key.needs_owner);
        let owners: Vec<_> = owners.filter_map(|key| key.owner).collect();
        if owners
            .iter()
            .any(|owner| self.values.origin(owner).is_some() && self.values.changes(owner, &upper))
        {
            // A key that was named for the former provider stays with it, and is never sent to the new one.
            self.replaced.push(self.values.clone());
        }
        self.values.apply(upper);
        for key in Values::keys().filter(|key| key.needs_owner) {
            if let (Some(owner), Some(origin)) = (key.owner, self.values.origin(key.name))
                && self.values.origin(owner).is_none()
            {
                return Err(SettingsError::NoOwner {
                    origin: origin.clone(),
                    key: key.name,
                    owner,
                });
            }
        }
        Ok(())
    }
}

/// Takes the profile from the highest layer that has one of this name.
fn take_profile(layers: &mut [Layer], name: &Setting<String>) -> Result<Values, SettingsError> {
    if let Some(profile) = layers
        .iter_mut()
        .rev()
        .find_map(|layer| layer.profiles.remove(&name.value))
    {
        return Ok(profile.value);
    }
    let known: Vec<_> = layers
        .iter()
        .flat_map(|layer| layer.profiles.keys().map(String::as_str))
        .collect();
    let advice = if known.is_empty() {
        format!(
            "add a table [profiles.{}] to {}",
            name.value,
            folders::settings_name()
        )
    } else {
        format!("the profiles are {}", known.join(", "))
    };
    Err(SettingsError::Profile {
        origin: name.origin.clone(),
        name: name.value.clone(),
        advice,
    })
}

/// Returns the clause of braces that matches only this target, and does not name its host.
fn brace_clause(target: &Target) -> Result<Clause, InvalidClause> {
    let (scheme, access, exact) = (target.scheme(), target.access(), target.to_clause());
    format!("{scheme}:{access}:{{{}}}", exact.pattern()).parse()
}

/// A file or folder that other programs of the person run or obey. Each write below the root needs approval, whatever is granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SensitivePlace {
    /// The absolute path, or a name in any folder.
    pub path: PathBuf,
    /// True if all files in the folder are meant.
    pub is_folder: bool,
    /// The description in approval requests and refusals.
    pub note: &'static str,
}

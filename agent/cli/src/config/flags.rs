//! [`KeyFlags`]: the flags of the keys.

use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use host::settings::{FlagValue, KeyAbout, KeyFlag, Origin, SettingsError, Values};

use super::keys::{self, ProgramKeys};
use host::shell;

/// The heading of the flags for the model.
pub(crate) const MODEL: &str = "Model";

/// The heading of the flags for the rights of tools.
pub(crate) const PERMISSIONS: &str = "Permissions";

/// The heading of the flags for the limits of a run.
const LIMITS: &str = "Limits";

/// The heading of the flags for the record of a session.
pub(crate) const RECORDING: &str = "Recording";

/// The flags of one set of keys.
///
/// The values are not parsed by clap, which would print an invalid one: a URL may contain a password.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyFlags<S> {
    given: Vec<(&'static str, Vec<String>)>,
    set: PhantomData<S>,
}

/// A set of flags, which a command can have.
pub(crate) trait FlagSet {
    /// Returns true if the flag of the key is one of the set.
    fn contains(key: &KeyAbout, flag: &KeyFlag) -> bool;
}

/// The flags of all commands that run tools. The one for questions is left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolFlags;

/// The flags for the model and the tools of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionFlags;

/// The flags for the limits and the record of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct LimitFlags;

/// The flag for the tools of a session alone.
#[derive(Debug, Default)]
pub(crate) struct SelectFlag;

/// The flag of commands that ask a person.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuestionFlag;

impl FlagSet for ToolFlags {
    fn contains(key: &KeyAbout, flag: &KeyFlag) -> bool {
        !flag.is_of_session && !QuestionFlag::contains(key, flag)
    }
}

impl FlagSet for SessionFlags {
    fn contains(key: &KeyAbout, flag: &KeyFlag) -> bool {
        flag.is_of_session && !LimitFlags::contains(key, flag)
    }
}

impl FlagSet for LimitFlags {
    fn contains(key: &KeyAbout, flag: &KeyFlag) -> bool {
        flag.is_of_session && [LIMITS, RECORDING].contains(&heading(key))
    }
}

impl FlagSet for SelectFlag {
    fn contains(_: &KeyAbout, flag: &KeyFlag) -> bool {
        flag.name == keys::SELECT
    }
}

impl FlagSet for QuestionFlag {
    fn contains(_: &KeyAbout, flag: &KeyFlag) -> bool {
        flag.name == keys::APPROVAL_TIMEOUT
    }
}

impl<S: FlagSet> KeyFlags<S> {
    /// Parses the values.
    pub(crate) fn values(&self) -> Result<Values, SettingsError> {
        let mut values = Values::from_texts(|key| {
            let Some(flag) = key.flag else {
                return Ok(None);
            };
            let given = self.given.iter().find(|(name, _)| *name == flag.name);
            Ok(given.map(|(name, texts)| (texts.clone(), Origin::Flag(name))))
        })?;
        values.of_mut::<ProgramKeys>().choose_first()?;
        Ok(values)
    }

    /// Returns the given flags as words of a shell.
    pub(crate) fn words(&self) -> Vec<String> {
        let given = self.given.iter().flat_map(|(name, texts)| {
            let mut keys = Self::keys();
            let flag = keys.find_map(|(_, flag)| (flag.name == *name).then_some(flag.value));
            texts.iter().map(move |text| match flag {
                Some(FlagValue::Named(_)) => format!("{name} {}", shell::quote(text)),
                _ => (*name).to_owned(),
            })
        });
        given.collect()
    }

    fn keys() -> impl Iterator<Item = (&'static KeyAbout, KeyFlag)> {
        Values::keys().filter_map(|key| {
            key.flag
                .filter(|flag| S::contains(key, flag))
                .map(|flag| (key, flag))
        })
    }
}

impl<S: FlagSet> Args for KeyFlags<S> {
    fn augment_args(command: Command) -> Command {
        Self::keys().fold(command, |command, (key, flag)| {
            command.arg(argument(key, flag))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: FlagSet> FromArgMatches for KeyFlags<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = Self::keys().filter_map(|(_, flag)| match flag.value {
            FlagValue::Named(_) => {
                let texts = matches.get_many::<String>(flag.name)?.cloned().collect();
                Some((flag.name, texts))
            }
            FlagValue::Implied(text, _) => matches
                .get_flag(flag.name)
                .then(|| (flag.name, vec![text.to_owned()])),
        });
        Ok(Self {
            given: given.collect(),
            set: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the heading of the key's flag, by its table and its owner.
fn heading(key: &KeyAbout) -> &'static str {
    match key.name.split('.').next() {
        Some("limits") => LIMITS,
        Some("sessions") => RECORDING,
        Some("select" | "disclosure") => "Tools",
        Some("provider" | "generation") => MODEL,
        _ if key.owner == Some("provider") => MODEL,
        _ => PERMISSIONS,
    }
}

fn argument(key: &KeyAbout, flag: KeyFlag) -> Arg {
    let argument = Arg::new(flag.name).long(flag.name.trim_start_matches('-'));
    let argument = argument.help_heading(heading(key));
    let variable = key.variable();
    match flag.value {
        FlagValue::Implied(_, help) => argument.help(help).action(ArgAction::SetTrue),
        FlagValue::Named(value) => {
            let (action, end) = match &variable {
                Some(variable) => (ArgAction::Set, format!(" [env: {variable}]")),
                None => (ArgAction::Append, "; repeatable".to_owned()),
            };
            argument
                .help(format!("{}{end}", key.doc))
                .value_name(value)
                .action(action)
        }
    }
}

//! [`KeyFlags`]: the flags of the keys.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::error::ConfigError;
use super::key::{FlagValue, KeyAbout, KeyFlag};
use super::keys::{self, Values};
use super::origin::Origin;

/// The flags of all commands that run tools; with `OF_SESSION`, those that only the commands have that run a session.
///
/// The values are not parsed by clap, which would print an invalid one: a URL may contain a password.
#[derive(Debug, Default)]
pub(crate) struct KeyFlags<const OF_SESSION: bool>(Vec<(&'static str, Vec<String>)>);

impl<const OF_SESSION: bool> KeyFlags<OF_SESSION> {
    /// Parses the values.
    pub(crate) fn values(&self) -> Result<Values, ConfigError> {
        Values::from_texts(|key| {
            let Some(flag) = key.flag else { return Ok(None) };
            let given = self.0.iter().find(|(name, _)| *name == flag.name);
            Ok(given.map(|(name, texts)| (texts.clone(), Origin::Flag(name))))
        })
    }

    fn keys() -> impl Iterator<Item = (KeyAbout, KeyFlag)> {
        let flag = |key: KeyAbout| key.flag.filter(|flag| flag.is_of_session == OF_SESSION).map(|flag| (key, flag));
        keys::all().into_iter().filter_map(flag)
    }
}

impl<const OF_SESSION: bool> Args for KeyFlags<OF_SESSION> {
    fn augment_args(command: Command) -> Command {
        Self::keys().fold(command, |command, (key, flag)| command.arg(argument(&key, flag)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const OF_SESSION: bool> FromArgMatches for KeyFlags<OF_SESSION> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |(_, flag): (KeyAbout, KeyFlag)| match flag.value {
            FlagValue::Named(_) => {
                let texts = matches.get_many::<String>(flag.name)?.cloned().collect();
                Some((flag.name, texts))
            }
            FlagValue::Implied(text, _) => matches.get_flag(flag.name).then(|| (flag.name, vec![text.to_owned()])),
        };
        Ok(Self(Self::keys().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn argument(key: &KeyAbout, flag: KeyFlag) -> Arg {
    let argument = Arg::new(flag.name).long(flag.name.trim_start_matches('-'));
    let variable = key.variable();
    match flag.value {
        FlagValue::Implied(_, help) => argument.help(help).action(ArgAction::SetTrue),
        FlagValue::Named(value) => {
            let (action, end) = match &variable {
                Some(variable) => (ArgAction::Set, format!(" [env: {variable}]")),
                None => (ArgAction::Append, "; repeatable".to_owned()),
            };
            argument.help(format!("{}{end}", key.doc)).value_name(value).action(action)
        }
    }
}

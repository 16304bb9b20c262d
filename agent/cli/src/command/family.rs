//! [`FamilyCommand`]: the commands of the linked families, as a part of the command line.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches, Subcommand};
use host::sessions::Sessions;
use host::{
    Argument, ArgumentRule, Arguments, ClientCalls, ClientCallsRequest, CommandContext,
    CommandError, CommandFuture, Exit, Finding, FoundTool, ValueForm, ValueKind,
};
use terminal::stdout;
use tools::{CancellationToken, Digest, Host};

use super::approval::is_approved;
use super::guide::{self, OWN};
use crate::client_options::ClientOptions;
use crate::config::{ConfigOptions, Settings, Values};
use crate::error::Error;
use crate::output::OutputOption;
use crate::root::RootOption;
use crate::session::{ProgramSessions, UnattendedOptions};
use crate::session_view::SessionView;
use crate::{interrupt, notice, output, tool_list};

/// A command of a family with its arguments.
#[derive(Debug)]
pub(super) struct FamilyCommand {
    command: &'static host::Command,
    arguments: Arguments,
    options: FamilyOptions,
}

/// The options that a command can have in common with those of the program.
#[derive(Debug, Default)]
pub(super) struct FamilyOptions {
    root: RootOption,
    config: ConfigOptions,
    sessions: Option<UnattendedOptions>,
    clients: Option<ClientOptions>,
    output: Option<OutputOption>,
    view: Arc<SessionView>,
}

impl FamilyCommand {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        if let Some(output) = self.options.output {
            output.apply();
        }
        match self.command.run {
            Some(run) => Ok(run(&self.arguments, &self.options).await?),
            // The command line demands one of the commands below.
            None => Ok(Exit::Success),
        }
    }

    fn new(command: &'static host::Command, matches: &ArgMatches) -> Result<Self, clap::Error> {
        if let Some((name, below)) = matches.subcommand()
            && let Some(command) = command.commands.iter().find(|below| below.name == name)
        {
            return Self::new(command, below);
        }
        let mut values = Vec::new();
        let mut options = FamilyOptions::default();
        for argument in command.arguments {
            match argument {
                Argument::Root => options.root = RootOption::from_arg_matches(matches)?,
                Argument::Settings => options.config = ConfigOptions::from_arg_matches(matches)?,
                Argument::Sessions => {
                    let sessions = UnattendedOptions::from_arg_matches(matches)?;
                    options.root = sessions.agent.host.root.clone();
                    options.sessions = Some(sessions);
                }
                Argument::ClientCalls => {
                    let clients = ClientOptions::from_arg_matches(matches)?;
                    options.root = clients.host.root.clone();
                    options.clients = Some(clients);
                }
                Argument::Output => options.output = Some(OutputOption::from_arg_matches(matches)?),
                Argument::Flag { name, .. } if matches.get_flag(name) => {
                    values.push((*name, Vec::new()));
                }
                Argument::Flag { .. } => {}
                Argument::Value { name, .. } => {
                    let given = matches.get_raw(name).into_iter();
                    values.extend(given.map(|raw| (*name, raw.map(OsStr::to_owned).collect())));
                }
            }
        }
        Ok(Self {
            command,
            arguments: Arguments::new(values),
            options,
        })
    }
}

impl Subcommand for FamilyCommand {
    fn augment_subcommands(command: Command) -> Command {
        let command = command.mut_subcommands(|below| {
            let examples = guide::examples(below.get_name());
            below.after_help(examples)
        });
        let records = by_availability().0.into_iter();
        records.fold(command, |command, record| {
            if command.find_subcommand(record.name).is_some() {
                let added = record.commands.iter().map(subcommand);
                return command.mut_subcommand(record.name, |group| group.subcommands(added));
            }
            let examples = guide::examples(record.name);
            command.subcommand(subcommand(record).after_help(examples))
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        let mut commands = by_availability().0.into_iter();
        commands.any(|command| command.name == name)
    }
}

impl FromArgMatches for FamilyCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let named = matches.subcommand().and_then(|(name, below)| {
            let word = below.subcommand_name();
            let record = by_availability().0.into_iter().find(|record| {
                let mut words = record.commands.iter().map(|below| Some(below.name));
                // Several families can add to a group, so the word below it tells whose command is meant.
                record.name == name && (!is_group(record) || words.any(|below| below == word))
            });
            Some(Self::new(record?, below))
        });
        named.unwrap_or_else(|| Err(clap::Error::new(clap::error::ErrorKind::InvalidSubcommand)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the problems of commands with names that are taken.
pub(super) fn findings() -> Vec<Finding> {
    let taken = by_availability().1.into_iter();
    taken
        .map(|command| Finding::conflict(format!("several commands are called {}", command.name)))
        .collect()
}

/// Returns the commands of families, and those that are left out because their names are taken.
fn by_availability() -> (Vec<&'static host::Command>, Vec<&'static host::Command>) {
    let own = OWN.map(|command| command.name);
    let own = own.into_iter().chain(["help"]);
    let mut taken: Vec<_> = own.map(|name| (name, false)).collect();
    host::commands().partition(|command| {
        let named = (command.name, is_group(command));
        let is_free = taken
            .iter()
            .all(|(name, is_group)| *name != command.name || (*is_group && named.1));
        taken.push(named);
        is_free
    })
}

/// Returns true for a name of commands alone, to which several families may add.
fn is_group(command: &host::Command) -> bool {
    command.run.is_none() && !command.commands.is_empty()
}

fn subcommand(record: &'static host::Command) -> Command {
    let arguments = record.arguments.iter();
    let command = arguments.fold(Command::new(record.name), with_argument);
    // The options of the program that a command has in common set a description of their own.
    let command = record.rules.iter().fold(command, with_rule);
    let mut command = command.about(record.about).long_about(None);
    if !record.details.is_empty() {
        command = command.long_about(format!("{}\n\n{}", record.about, record.details));
    }
    command = match record.run {
        Some(_) => command.args_conflicts_with_subcommands(!record.commands.is_empty()),
        None => command
            .subcommand_required(true)
            .arg_required_else_help(true),
    };
    command.subcommands(record.commands.iter().map(subcommand))
}

fn with_argument(command: Command, argument: &'static Argument) -> Command {
    match argument {
        Argument::Root => RootOption::augment_args(command),
        Argument::Settings => ConfigOptions::augment_args(command),
        Argument::Sessions => UnattendedOptions::augment_args(command),
        Argument::ClientCalls => ClientOptions::augment_args(command),
        Argument::Output => OutputOption::augment_args(command),
        Argument::Flag { name, short, help } => {
            let flag = Arg::new(*name).long(*name).short(*short).help(*help);
            command.arg(flag.action(ArgAction::SetTrue))
        }
        Argument::Value {
            name,
            value,
            form,
            kind,
            help,
        } => {
            let argument = Arg::new(*name).value_name(*value).help(*help);
            let argument = match *kind {
                ValueKind::Path => argument.value_parser(clap::value_parser!(PathBuf)),
                ValueKind::Text(check) => {
                    argument.value_parser(move |text: &str| check(text).map(|()| text.to_owned()))
                }
            };
            command.arg(match form {
                ValueForm::Named => argument.long(*name),
                ValueForm::Default(value) => argument.long(*name).default_value(value),
                ValueForm::NamedMany => argument.long(*name).action(ArgAction::Append),
                ValueForm::Optional => argument,
                ValueForm::Required => argument.required(true),
                ValueForm::Many => argument
                    .required(true)
                    .num_args(1..)
                    .action(ArgAction::Append),
                ValueForm::Any => argument.num_args(0..).action(ArgAction::Append),
                ValueForm::Trailing => argument
                    .num_args(1..)
                    .trailing_var_arg(true)
                    .allow_hyphen_values(true),
            })
        }
    }
}

fn with_rule(command: Command, rule: &ArgumentRule) -> Command {
    match *rule {
        ArgumentRule::Conflicts(one, other) => {
            command.mut_arg(one, |one| one.conflicts_with(other))
        }
        ArgumentRule::RequiredWithout(one, other) => {
            command.mut_arg(one, |one| one.required_unless_present(other))
        }
        ArgumentRule::Requires(one, other) => command.mut_arg(one, |one| one.requires(other)),
    }
}

impl FamilyOptions {
    /// Creates the options of a command without sessions.
    pub(super) fn new(root: &RootOption, config: &ConfigOptions) -> Self {
        Self {
            root: root.clone(),
            config: config.clone(),
            ..Self::default()
        }
    }
}

impl CommandContext for FamilyOptions {
    fn workspace(&self) -> Result<String, CommandError> {
        Ok(self.root.workspace()?)
    }

    fn settings(&self) -> Result<Settings, CommandError> {
        Ok(self
            .config
            .settings(Values::default())
            .map_err(Error::from)?)
    }

    fn sessions(&self) -> Result<Arc<dyn Sessions>, CommandError> {
        let Some(options) = self.sessions.clone() else {
            let error = "the command has no options of sessions; add Argument::Sessions";
            return Err(CommandError::new(Exit::Internal, error));
        };
        Ok(Arc::new(ProgramSessions {
            options,
            format: self.output.map(|output| output.format),
            view: self.view.clone(),
            is_noted: AtomicBool::default(),
        }))
    }

    fn client_calls<'a>(
        &'a self,
        request: ClientCallsRequest<'a>,
    ) -> CommandFuture<'a, ClientCalls> {
        Box::pin(async move {
            let Some(options) = &self.clients else {
                let error = "the command has no options of clients; add Argument::ClientCalls";
                return Err(CommandError::new(Exit::Internal, error));
            };
            Ok(options.calls(request).await?)
        })
    }

    fn interruption(&self) -> Result<CancellationToken, CommandError> {
        let token = interrupt::token(&self.view)?;
        interrupt::cancel_on_termination(token.clone());
        Ok(token)
    }

    fn find_tool<'a>(&'a self, name: &'a str) -> CommandFuture<'a, FoundTool> {
        Box::pin(async move {
            let settings = self.settings()?;
            let root = self.config.reads_files();
            let root = root.then(|| self.root.setting().value);
            let servers = tool_list::attach_for(name, root, || Ok(settings.clone())).await?;
            Ok(FoundTool {
                entry: tools::get(name).map_err(Error::from)?,
                services: self.root.services(&settings)?,
                servers,
            })
        })
    }

    fn width(&self) -> usize {
        stdout::width()
    }

    fn host(&self, settings: &Settings) -> Result<Host, CommandError> {
        Ok(self.root.host(true, settings)?)
    }

    fn write_page(&self, text: &str) -> Result<(), CommandError> {
        Ok(stdout::page(text).map_err(Error::from)?)
    }

    fn write_json_text(&self, text: &str) -> Result<(), CommandError> {
        Ok(stdout::line(&output::escaped_json(text)).map_err(Error::from)?)
    }

    fn note(&self, message: &str) {
        notice::note(message);
    }

    fn hint(&self, message: &str) {
        notice::hint(message);
    }

    fn warn(&self, message: &str) {
        notice::warning(message);
    }

    fn is_approved<'a>(
        &'a self,
        digests: &'a [Digest],
        shown: &'a Digest,
        noun: &'static str,
    ) -> CommandFuture<'a, bool> {
        Box::pin(async move { Ok(is_approved(digests, shown, noun).await?) })
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use host::{Extension, Parts, inventory};
    use tools::source;

    use super::*;
    use crate::command::Cli;

    const WING: host::Command = host::Command {
        run: Some(|_, _| Box::pin(async { Ok(Exit::Success) })),
        ..host::Command::new("wing")
    };

    const AUDIT: host::Command = host::Command {
        commands: &[WING],
        ..host::Command::new("audit")
    };

    inventory::submit! {
        Extension::new("taken", source!(), Parts {
            commands: &[
                host::Command::new("list"),
                host::Command::new("fan"),
                host::Command::new("fan"),
                AUDIT,
            ],
            ..Parts::NONE
        })
    }

    #[test]
    fn a_command_with_a_taken_name_is_left_out_and_a_finding() {
        assert!(!FamilyCommand::has_subcommand("list") && FamilyCommand::has_subcommand("fan"));
        assert_eq!(findings().len(), 2);
        Cli::command().debug_assert();
    }

    const SWITCH: host::Command = host::Command {
        arguments: &[
            Argument::value::<String>(ValueForm::Trailing, "command", "COMMAND", "The words"),
            Argument::value::<String>(ValueForm::Named, "url", "URL", "The address"),
            Argument::value::<String>(ValueForm::NamedMany, "header", "TEXT", "A header"),
        ],
        rules: &[
            ArgumentRule::Conflicts("command", "url"),
            ArgumentRule::RequiredWithout("command", "url"),
            ArgumentRule::Conflicts("header", "command"),
        ],
        run: Some(|_, _| Box::pin(async { Ok(Exit::Success) })),
        ..host::Command::new("switch")
    };

    #[test]
    fn arguments_are_given_together_as_the_rules_say() {
        let takes = |words: &str| {
            let words = ["switch"].into_iter().chain(words.split_whitespace());
            subcommand(&SWITCH).try_get_matches_from(words).is_ok()
        };
        assert!(takes("fan --header --url x"), "the words after the first");
        assert!(takes("--url x") && takes("--url x --header y"));
        assert!(!takes("--url x fan"), "a conflict");
        assert!(!takes("--header y fan"), "a header of a command");
        assert!(!takes(""), "neither a command nor an address");
    }

    #[test]
    fn families_add_to_a_group_of_another_one() {
        for word in ["ceiling", "show", "wing"] {
            let words = ["toolcrib", "audit", word, "--help"];
            let shown = Cli::command().try_get_matches_from(words).unwrap_err();
            assert!(
                shown.to_string().contains(&format!("audit {word}")),
                "{shown}"
            );
        }
        let called = Cli::command().get_matches_from(["toolcrib", "audit", "wing"]);
        let called = FamilyCommand::from_arg_matches(&called).unwrap();
        assert_eq!(called.command.name, "wing");
    }

    #[test]
    fn the_own_names_are_those_of_the_program() {
        let cli = Cli::command();
        let names = cli.get_subcommands().map(Command::get_name);
        let unknown: Vec<_> = names
            .filter(|name| {
                !FamilyCommand::has_subcommand(name) && !OWN.iter().any(|own| own.name == *name)
            })
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}

//! [`Command`]: a command of a family, as data.

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;

use serde::Serialize;
use tools::{CancellationToken, Digest, Entry, Host, Services};

use crate::client_calls::{ClientCalls, ClientCallsRequest};
use crate::exit::Exit;
use crate::remote_tools::AttachedTools;
use crate::sessions::Sessions;
use crate::settings::Settings;

/// A command of a family. The program turns it into a part of its command line.
///
/// ```
/// use host::{Argument, Command, Exit};
///
/// const FAN: Command = Command {
///     about: "Stop a fan",
///     examples: "fan kitchen  # Stop the fan of the kitchen",
///     arguments: &[Argument::value::<String>(host::ValueForm::Required, "room", "ROOM", "The room")],
///     run: Some(|arguments, cx| Box::pin(async move {
///         cx.note(&format!("stopped in {}", arguments.value::<String>("room")?.unwrap_or_default()));
///         Ok(Exit::Success)
///     })),
///     ..Command::new("fan")
/// };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// The word on the command line.
    pub name: &'static str,
    /// The line in the list of commands.
    pub about: &'static str,
    /// The paragraph that `--help` adds.
    pub details: &'static str,
    /// The heading of the list of commands below which it stands.
    pub group: CommandGroup,
    /// The place below the heading: the smallest is first.
    pub rank: u8,
    /// Command lines without the name of the program, each with its meaning behind `  # `. The help shows them.
    pub examples: &'static str,
    /// The arguments, in the order of the help.
    pub arguments: &'static [Argument],
    /// The rules for arguments that are given together.
    pub rules: &'static [ArgumentRule],
    /// The commands below this one.
    pub commands: &'static [Command],
    /// The function that runs it. `None` if one of the commands below must be named.
    pub run: Option<Run>,
}

/// A heading of the list of commands, in the order of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandGroup {
    /// The work with a model.
    Use,
    /// The connections to models, servers and clients, and their settings.
    Connect,
    /// The work on tools.
    MakeTools,
    /// The commands of families that name no group.
    Others,
}

/// The function of a command.
pub type Run = for<'a> fn(&'a Arguments, &'a dyn CommandContext) -> CommandFuture<'a, Exit>;

/// The future of a command's function, or of a part of it.
pub type CommandFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, CommandError>> + 'a>>;

/// An argument of a command.
#[derive(Clone, Copy, Debug)]
pub enum Argument {
    /// The option `--root`, which sets the [workspace](CommandContext::workspace).
    Root,
    /// The options `--config` and `--no-config`, which set the files of the [settings](CommandContext::settings).
    Settings,
    /// The options of [sessions](CommandContext::sessions), with those of the root and the settings.
    Sessions,
    /// The options of [calls of clients](CommandContext::client_calls), with those of the root and the settings.
    ClientCalls,
    /// The option `--output`, for the progress and the answers of sessions.
    Output,
    /// An option without a value.
    Flag {
        /// The name, which is the option without `--`.
        name: &'static str,
        /// The letter of its short form.
        short: Option<char>,
        /// The line in the help.
        help: &'static str,
    },
    /// An argument with a value.
    Value {
        /// The name.
        name: &'static str,
        /// The word for the value in the help.
        value: &'static str,
        /// Whether it is an option, and how many values it has.
        form: ValueForm,
        /// The values that the command line takes.
        kind: ValueKind,
        /// The line in the help.
        help: &'static str,
    },
}

/// A rule for two arguments, by their names.
#[derive(Clone, Copy, Debug)]
pub enum ArgumentRule {
    /// The first is not given together with the second.
    Conflicts(&'static str, &'static str),
    /// The first must be given, unless the second is.
    RequiredWithout(&'static str, &'static str),
    /// The first is not given without the second.
    Requires(&'static str, &'static str),
}

/// Whether an argument is an option, and how many values it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueForm {
    /// An option that is given at most once.
    Named,
    /// An option that has this value unless it is given.
    Default(&'static str),
    /// An option that is repeated.
    NamedMany,
    /// An argument that may be left out.
    Optional,
    /// An argument.
    Required,
    /// One or more arguments.
    Many,
    /// Any number of arguments.
    Any,
    /// The words after all others, also those that begin like options.
    Trailing,
}

/// The values that the command line takes.
#[derive(Clone, Copy, Debug)]
pub enum ValueKind {
    /// Texts for which the function returns no error.
    Text(fn(&str) -> Result<(), String>),
    /// Paths.
    Path,
}

/// The arguments of a call of a command.
#[derive(Clone, Debug, Default)]
pub struct Arguments(BTreeMap<&'static str, Vec<OsString>>);

/// The program that runs a command.
pub trait CommandContext {
    /// Returns the path of the root with links resolved.
    ///
    /// # Errors
    /// Returns an error if it is not a directory, or not UTF-8.
    fn workspace(&self) -> Result<String, CommandError>;

    /// Returns the effective settings.
    ///
    /// # Errors
    /// Returns the first mistake in the settings.
    fn settings(&self) -> Result<Settings, CommandError>;

    /// Returns the sessions that the command may run.
    ///
    /// # Errors
    /// Returns an error if the command has no [options of sessions](Argument::Sessions).
    fn sessions(&self) -> Result<Arc<dyn Sessions>, CommandError>;

    /// Begins the calls of clients.
    ///
    /// # Errors
    /// Returns an error if the command has no [options of such calls](Argument::ClientCalls), and the first mistake in the settings.
    fn client_calls<'a>(
        &'a self,
        request: ClientCallsRequest<'a>,
    ) -> CommandFuture<'a, ClientCalls>;

    /// Returns a token that is cancelled when the command has to end: by Ctrl-C, or by the system. A second Ctrl-C ends the program.
    ///
    /// # Errors
    /// Returns an error if signals cannot be received.
    fn interruption(&self) -> Result<CancellationToken, CommandError>;

    /// Returns the width of standard output in columns. Without a terminal it is `COLUMNS`, or else 80.
    fn width(&self) -> usize;

    /// Makes the host of a program that is no call, such as of a server. It has no grant.
    ///
    /// # Errors
    /// Returns the first mistake in the settings, or an error if the root cannot be used.
    fn host(&self, settings: &Settings) -> Result<Host, CommandError>;

    /// Finds a tool, which may be one of a server, with the services of a session.
    ///
    /// # Errors
    /// Returns an error if there is no such tool, and the first mistake in the settings.
    fn find_tool<'a>(&'a self, name: &'a str) -> CommandFuture<'a, FoundTool>;

    /// Writes text composed by the command to standard output. Its [styles](crate::style) are kept on terminals only.
    ///
    /// # Errors
    /// Returns an error if standard output cannot be written.
    fn write_page(&self, text: &str) -> Result<(), CommandError>;

    /// Writes a JSON text on one line. Characters that a terminal obeys or hides are escaped.
    ///
    /// # Errors
    /// Returns an error if standard output cannot be written.
    fn write_json_text(&self, text: &str) -> Result<(), CommandError>;

    /// Prints a note on standard error.
    fn note(&self, message: &str);

    /// Prints a hint on standard error: the next step.
    fn hint(&self, message: &str);

    /// Prints a warning on standard error.
    fn warn(&self, message: &str);

    /// Returns true if one of the digests that the command line names, or the person at the terminal, approves the content that was shown.
    /// The noun, such as `this skill`, is a part of the question.
    ///
    /// # Errors
    /// Returns an error if all digests on the command line are others.
    fn is_approved<'a>(
        &'a self,
        digests: &'a [Digest],
        shown: &'a Digest,
        noun: &'static str,
    ) -> CommandFuture<'a, bool>;
}

/// A tool that a command is about.
#[derive(Debug)]
pub struct FoundTool {
    /// The tool.
    pub entry: Arc<Entry>,
    /// The services of a session that makes no calls.
    pub services: Services,
    /// The servers of the tool, which end when this is dropped.
    pub servers: Box<dyn AttachedTools>,
}

/// The failure of a command.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct CommandError {
    /// The exit code of the program. With [`Exit::Success`], nothing is printed.
    pub exit: Exit,
    error: Box<dyn Error + Send + Sync>,
    /// The next step, if the message does not say it.
    pub hint: Option<String>,
}

impl CommandGroup {
    /// Returns the heading.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Use => "Use",
            Self::Connect => "Connect",
            Self::MakeTools => "Make tools",
            Self::Others => "Others",
        }
    }
}

impl Command {
    /// Creates a command without arguments, which does nothing.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            about: "",
            details: "",
            group: CommandGroup::Others,
            rank: u8::MAX,
            examples: "",
            arguments: &[],
            rules: &[],
            commands: &[],
            run: None,
        }
    }
}

impl Argument {
    /// Creates an option without a value and without a short form.
    pub const fn flag(name: &'static str, help: &'static str) -> Self {
        let short = None;
        Self::Flag { name, short, help }
    }

    /// Creates an argument whose values are texts that are read as this type.
    pub const fn value<T: FromStr<Err: Display>>(
        form: ValueForm,
        name: &'static str,
        value: &'static str,
        help: &'static str,
    ) -> Self {
        let kind = ValueKind::text::<T>();
        Self::Value {
            name,
            value,
            form,
            kind,
            help,
        }
    }
}

impl ValueKind {
    /// Returns the texts that are read as this type.
    pub const fn text<T: FromStr<Err: Display>>() -> Self {
        Self::Text(|text| {
            text.parse::<T>()
                .map(drop)
                .map_err(|error| error.to_string())
        })
    }
}

impl Arguments {
    /// Creates the arguments from their names and values. A flag has no value.
    pub fn new(values: impl IntoIterator<Item = (&'static str, Vec<OsString>)>) -> Self {
        Self(values.into_iter().collect())
    }

    /// Returns true if the argument is given.
    pub fn is_given(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns the path. Returns `None` if it is not given.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        Some(self.0.get(name)?.first()?.into())
    }

    /// Returns the first value. Returns `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if it is not of this type, although the [kind](ValueKind) permits it.
    pub fn value<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, CommandError> {
        Ok(self.values(name)?.into_iter().next())
    }

    /// Returns all values.
    ///
    /// # Errors
    /// Returns an error if one is not of this type, although the [kind](ValueKind) permits it.
    pub fn values<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Vec<T>, CommandError> {
        let values = self.0.get(name).into_iter().flatten();
        let parsed = values.map(|value| {
            // The command line has checked the texts, so only a path can be another encoding, and paths are read as such.
            let parsed = value.to_string_lossy().parse();
            parsed.map_err(|error: T::Err| CommandError::new(Exit::Usage, error.to_string()))
        });
        parsed.collect()
    }
}

impl dyn CommandContext + '_ {
    /// Writes one JSON document on one line.
    ///
    /// # Errors
    /// Returns an error if it is no JSON, or if standard output cannot be written.
    pub fn write_json(&self, document: &impl Serialize) -> Result<(), CommandError> {
        let text = serde_json::to_string(document)
            .map_err(|error| CommandError::new(Exit::Internal, error))?;
        self.write_json_text(&text)
    }
}

impl CommandError {
    /// Creates a failure with an exit code.
    pub fn new(exit: Exit, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            exit,
            error: error.into(),
            hint: None,
        }
    }
}

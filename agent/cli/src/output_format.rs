//! [`OutputFormat`]: the form in which a run is printed.

use clap::{Args, ValueEnum};

/// The option of commands that run a session.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct OutputOption {
    /// The form of standard output
    #[arg(long = "output", value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: OutputFormat,
}

/// The form of a run's standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer; calls, progress and a summary go to standard error
    #[default]
    Text,
    /// The outcome as one JSON document, at the end
    Json,
    /// Session, events and outcome as JSON, one document per line
    StreamJson,
}

//! [`Detail`]: the part of a run that a person sees.

use clap::Args;

/// The part of a run that standard error shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Nothing but questions, warnings and errors.
    Quiet,
    /// A line for each call, and an excerpt of its effect.
    #[default]
    Usual,
    /// The whole results, too, as those of a program that a person has started.
    Results,
    /// The whole arguments and results, too.
    Whole,
}

/// The options of commands that show runs.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct DetailOptions {
    /// Show the whole arguments and results of calls, too
    #[arg(short, long)]
    verbose: bool,

    /// Show the answer, questions, warnings and errors alone
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
}

impl DetailOptions {
    pub(crate) fn detail(self) -> Detail {
        match (self.quiet, self.verbose) {
            (true, _) => Detail::Quiet,
            (_, true) => Detail::Whole,
            _ => Detail::Usual,
        }
    }
}

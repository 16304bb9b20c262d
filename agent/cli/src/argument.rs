//! Tool arguments from the command line.

use std::sync::Arc;

use agent::arguments_from_pairs;
use clap::Args;
use tools::{Arguments, Entry};

use crate::error::Error;
use crate::standard_input;

/// The name and the arguments of one call.
#[derive(Args, Debug)]
pub(crate) struct CallArguments {
    /// The tool's name
    pub(crate) name: String,

    /// An argument, converted by the tool's schema; repeatable
    #[arg(value_name = "KEY=VALUE", value_parser = pair)]
    pairs: Vec<(String, String)>,

    /// All arguments as one JSON object; - reads it from standard input
    #[arg(
        long,
        value_name = "JSON",
        allow_hyphen_values = true,
        conflicts_with = "pairs"
    )]
    args: Option<String>,
}

impl CallArguments {
    /// Returns the called tool and its arguments: JSON text if given, otherwise the pairs, typed by the tool's schema. JSON text is
    /// passed on unparsed, because the pipeline parses it strictly.
    pub(crate) fn read(&self) -> Result<(Arc<Entry>, Arguments), Error> {
        let entry = tools::get(&self.name)?;
        let arguments = match self.args.as_deref() {
            Some("-") => Arguments::Text(standard_input::arguments()?),
            Some(text) => Arguments::Text(text.to_owned()),
            None => {
                let pairs = self.pairs.iter().map(|(key, value)| (key, value));
                arguments_from_pairs(&entry.tool().parameters, pairs)?.into()
            }
        };
        Ok((entry, arguments))
    }
}

/// Parses `key=value`.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(
            "expected key=value, such as path=README.md; --args takes all arguments as JSON"
                .to_owned(),
        ),
    }
}

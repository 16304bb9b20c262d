//! Tool arguments from the command line.

use agent::arguments_from_pairs;
use serde_json::Value;
use tools::Arguments;

use crate::error::Error;
use crate::standard_input;

/// Parses `key=value`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected key=value, such as path=README.md; --args takes all arguments as JSON".to_owned()),
    }
}

/// Returns the arguments of a call: JSON text if given (`-` reads standard input), otherwise the pairs, typed by the tool's
/// schema. JSON text is passed on unparsed, because the pipeline parses it strictly.
pub(crate) fn arguments(schema: &Value, pairs: &[(String, String)], text: Option<&str>) -> Result<Arguments, Error> {
    match text {
        Some("-") => standard_input::arguments().map(Arguments::Text),
        Some(text) => Ok(Arguments::Text(text.to_owned())),
        None => {
            let pairs = pairs.iter().map(|(key, value)| (key, value));
            Ok(arguments_from_pairs(schema, pairs)?.into())
        }
    }
}

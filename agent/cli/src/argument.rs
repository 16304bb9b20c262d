//! The arguments of a call, as the command line gives them.

use std::io::{self, Read as _};

use agent::arguments_from_pairs;
use serde_json::Value;
use tools::Arguments;

use crate::error::Error;

/// Reads `key=value`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write key=value, such as path=README.md, or the whole arguments with --args".to_owned()),
    }
}

/// The arguments: JSON text as it is, which the counter parses strictly (`-` stands for the standard input), or else the
/// pairs, typed by the tool's schema.
pub(crate) fn arguments(schema: &Value, pairs: &[(String, String)], text: Option<&str>) -> Result<Arguments, Error> {
    match text {
        Some("-") => standard_input().map(Arguments::Text).map_err(Error::Input),
        Some(text) => Ok(Arguments::Text(text.to_owned())),
        None => {
            let pairs = pairs.iter().map(|(key, value)| (key, value));
            Ok(arguments_from_pairs(schema, pairs)?.into())
        }
    }
}

fn standard_input() -> io::Result<String> {
    let mut bytes = Vec::new();
    // One byte more than the counter takes, so that it says what is wrong with more.
    io::stdin().lock().take(Arguments::MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > Arguments::MAX_BYTES {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

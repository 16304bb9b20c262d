//! Prompts and arguments from standard input.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Read as _};

use terminal::MAX_LINE_BYTES;
use tools::Arguments;
use tools_text::decode_input;

use crate::error::Error;

/// Returns the prompt that is piped to standard input, without its last line break.
pub(crate) fn prompt() -> Result<String, Error> {
    if io::stdin().is_terminal() {
        return Err(Error::NoPrompt);
    }
    let bytes = read(MAX_LINE_BYTES).map_err(Error::prompt)?;
    if bytes.len() > MAX_LINE_BYTES {
        return Err(Error::prompt("it is longer than 1 MiB"));
    }
    let text = decode_input(&bytes).map_err(Error::prompt)?;
    let prompt = text.trim_end_matches(['\r', '\n']);
    if prompt.trim().is_empty() {
        return Err(Error::prompt("standard input is empty"));
    }
    Ok(prompt.to_owned())
}

/// Returns the arguments of a call as JSON text.
pub(crate) fn arguments() -> Result<String, Error> {
    let bytes = read(Arguments::MAX_BYTES).map_err(Error::Input)?;
    // The pipeline reports the excess.
    if bytes.len() > Arguments::MAX_BYTES {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    decode_input(&bytes)
        .map(Cow::into_owned)
        .map_err(|error| Error::Input(error.into()))
}

/// Reads at most one byte more than `most`, which shows that the text is too long.
fn read(most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(most as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

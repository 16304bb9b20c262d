//! [`PromptCall`]: a prompt of a server that a person chose.

/// A prompt of a server that a person chose in a chat.
#[derive(Debug, PartialEq, Eq)]
pub struct PromptCall {
    /// The name of the server.
    pub server: String,
    /// The name of the prompt.
    pub prompt: String,
    /// The arguments, each with its name.
    pub arguments: Vec<(String, String)>,
}

impl PromptCall {
    /// Parses the words of a command such as `/server:prompt name=value`. Returns `None` if it has another form.
    ///
    /// # Errors
    /// Returns the reason if a word is not an argument.
    pub fn parse(words: &[String]) -> Result<Option<Self>, String> {
        let Some((command, words)) = words.split_first() else {
            return Ok(None);
        };
        let Some((server, prompt)) = command
            .strip_prefix('/')
            .and_then(|name| name.split_once(':'))
        else {
            return Ok(None);
        };
        let argument = |word: &String| match word.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
            _ => Err(format!(
                "{word:?} is not an argument of a prompt; write NAME=VALUE"
            )),
        };
        let arguments = words.iter().map(argument).collect::<Result<_, _>>()?;
        Ok(Some(Self {
            server: server.to_owned(),
            prompt: prompt.to_owned(),
            arguments,
        }))
    }
}

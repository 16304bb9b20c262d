//! [`Scripted`]: the provider that plays a file.

use std::future::ready;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use tools::protocol::{Message, Part, Role};
use tools::{Content, Json, ToolCall, source};

use super::{Provider, ProviderError, ProviderOptions, ProviderSubmission, Request, Turn, TurnFuture};

/// Plays model turns, whatever is asked: for tests and demonstrations.
///
/// The conversation of a request says which turn is next: as many as it has of the model are skipped. So a session that is
/// resumed goes on in its script, a request that is repeated gets its turn again, and an empty conversation begins with the first.
///
/// A script is a JSON array of `{"text": "…", "calls": [{"name": "…", "arguments": {…}, "id": "…"}]}`. A turn has text,
/// calls, or both; `arguments` default to none; an `id` is made up where there is none.
///
/// ```
/// let script = r#"[{"calls": [{"name": "time.now"}]}, {"text": "It is late."}]"#;
/// let provider = agent::Scripted::from_json(script)?;
/// # Ok::<(), agent::ProviderError>(())
/// ```
#[derive(Debug)]
pub struct Scripted {
    turns: Vec<Turn>,
}

impl Scripted {
    /// Plays these turns.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self { turns: turns.into_iter().collect() }
    }

    /// Plays a script.
    ///
    /// # Errors
    /// [`ProviderError::Script`] when the text is something else.
    pub fn from_json(script: &str) -> Result<Self, ProviderError> {
        read(script).map(Self::new).map_err(|reason| ProviderError::Script { path: None, reason })
    }

    /// Plays the script in a file.
    ///
    /// # Errors
    /// [`ProviderError::ScriptFile`] when it cannot be read, [`ProviderError::Script`] when it holds something else.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ProviderError> {
        let path = path.as_ref();
        let script = std::fs::read_to_string(path)
            .map_err(|source| ProviderError::ScriptFile { path: path.to_owned(), source })?;
        read(&script).map(Self::new).map_err(|reason| ProviderError::Script { path: Some(path.to_owned()), reason })
    }
}

inventory::submit! {
    ProviderSubmission {
        name: "scripted",
        description: "no model: plays a file of model turns",
        source: source!(),
        create: from_options,
    }
}

impl Provider for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        let played = request.messages.iter().filter(|message| message.role == Role::Assistant).count();
        let turn = self.turns.get(played).cloned();
        Box::pin(ready(turn.ok_or(ProviderError::OutOfTurns { turns: self.turns.len() })))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTurn {
    text: Option<String>,
    #[serde(default)]
    calls: Vec<WrittenCall>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCall {
    id: Option<String>,
    name: String,
    #[serde(default)]
    arguments: Json,
}

fn from_options(options: &ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError> {
    let path = options.script.as_ref().ok_or_else(|| ProviderError::Options {
        provider: "scripted".to_owned(),
        reason: "it needs a script; give the path of a file of model turns".to_owned(),
    })?;
    Ok(Arc::new(Scripted::load(path)?))
}

fn read(script: &str) -> Result<Vec<Turn>, String> {
    // Twice, so that errors of the second reading tell line and column, and keys that stand twice are found as well.
    Json::parse(script).map_err(|error| error.to_string())?;
    let written: Vec<WrittenTurn> = serde_json::from_str(script).map_err(|error| error.to_string())?;
    let mut numbers = 1..;
    let mut turns = Vec::new();
    for (index, WrittenTurn { text, calls }) in written.into_iter().enumerate() {
        if text.is_none() && calls.is_empty() {
            return Err(format!("turn {} has neither text nor calls", index + 1));
        }
        let texts = text.into_iter().map(|text| Part::Content(Content::text(text)));
        let calls = calls.into_iter().map(|WrittenCall { id, name, arguments }| {
            let id = id.unwrap_or_else(|| format!("script_{}", numbers.next().unwrap_or_default()));
            Part::ToolCall(ToolCall::new(id, name, arguments))
        });
        turns.push(Turn::new(Message { role: Role::Assistant, parts: texts.chain(calls).collect() }));
    }
    Ok(turns)
}

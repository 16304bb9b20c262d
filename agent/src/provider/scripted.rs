//! [`Scripted`]: a provider that plays recorded turns.

use std::future::ready;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use tools::protocol::{Message, Part, Role};
use tools::{Content, Json, ToolCall, source};

use super::{
    Provider, ProviderError, ProviderInfo, ProviderOptions, ProviderSubmission, Request, Turn,
    TurnFuture,
};

/// A provider that plays a script of model turns, for tests and demonstrations. It ignores the prompt.
///
/// The number of assistant messages in the request selects the turn. A resumed session therefore continues its script, and a
/// repeated request gets the same turn again.
///
/// A script is a JSON array of `{"text": "…", "calls": [{"name": "…", "arguments": {…}, "id": "…"}]}`. A turn has text,
/// calls, or both. `arguments` defaults to an empty object, and `id` to a generated id.
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
    /// Creates a provider that plays these turns.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self {
            turns: turns.into_iter().collect(),
        }
    }

    /// Parses a script.
    ///
    /// # Errors
    /// Returns [`ProviderError::Script`] if the text is not a script.
    pub fn from_json(script: &str) -> Result<Self, ProviderError> {
        Self::parse(script, None)
    }

    /// Loads a script from a file.
    ///
    /// # Errors
    /// - Returns [`ProviderError::ScriptFile`] if the file cannot be read.
    /// - Returns [`ProviderError::Script`] if the file is not a script.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ProviderError> {
        let path = path.as_ref();
        let failed = |source| ProviderError::ScriptFile {
            path: path.to_owned(),
            source,
        };
        let bytes = std::fs::read(path).map_err(failed)?;
        let script = tools_text::decode_input(&bytes).map_err(|error| failed(error.into()))?;
        Self::parse(&script, Some(path))
    }

    fn parse(script: &str, path: Option<&Path>) -> Result<Self, ProviderError> {
        let path = path.map(Path::to_owned);
        read(script)
            .map(Self::new)
            .map_err(|reason| ProviderError::Script { path, reason })
    }
}

inventory::submit! {
    ProviderSubmission {
        name: "scripted",
        description: "no model: plays a file of model turns",
        source: source!(),
        service: |_| None,
        create: from_options,
    }
}

impl Provider for Scripted {
    fn about(&self) -> &ProviderInfo {
        static SCRIPTED: ProviderInfo = ProviderInfo::unmetered("scripted");
        &SCRIPTED
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        // The place in the script is that of the conversation, so that a resumed session does nothing twice.
        let played = request.replies.unwrap_or_else(|| {
            let roles = request.messages.iter().map(|message| message.role);
            roles.filter(|role| *role == Role::Assistant).count()
        });
        let turn = self.turns.get(played).cloned();
        let turns = self.turns.len();
        Box::pin(ready(turn.ok_or(ProviderError::OutOfTurns { turns })))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptTurn {
    text: Option<String>,
    #[serde(default)]
    calls: Vec<ScriptCall>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptCall {
    id: Option<String>,
    name: String,
    #[serde(default)]
    arguments: Json,
}

fn from_options(options: &ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError> {
    let path = options.script.as_ref().ok_or_else(|| {
        let reason = "it needs a script; give the path of a file of model turns";
        ProviderError::options("scripted", reason)
    })?;
    Ok(Arc::new(Scripted::load(path)?))
}

fn read(script: &str) -> Result<Vec<Turn>, String> {
    // `Json::parse` rejects duplicate keys. serde_json reports the line and column of other errors.
    Json::parse(script).map_err(|error| error.to_string())?;
    let written: Vec<ScriptTurn> =
        serde_json::from_str(script).map_err(|error| error.to_string())?;
    let mut numbers = 1..;
    let mut turns = Vec::new();
    for (index, ScriptTurn { text, calls }) in written.into_iter().enumerate() {
        if text.is_none() && calls.is_empty() {
            return Err(format!("turn {} has neither text nor calls", index + 1));
        }
        let texts = text.into_iter();
        let texts = texts.map(|text| Part::Content(Content::text(text)));
        let calls = calls.into_iter().map(|call| {
            let id = call.id;
            let id = id.unwrap_or_else(|| format!("script_{}", numbers.next().unwrap_or_default()));
            Part::ToolCall(ToolCall::new(id, call.name, call.arguments))
        });
        turns.push(Turn::new(Message {
            role: Role::Assistant,
            parts: texts.chain(calls).collect(),
        }));
    }
    Ok(turns)
}

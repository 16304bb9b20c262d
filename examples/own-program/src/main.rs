//! cargo run --package example-own-program -- run --provider direct 'word.translate text="good morning"'
//!
//! A program with the commands of `toolcrib` (run, chat, list, doctor, …), its own name and its own tools.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use agent::{ProviderSubmission, Scripted};
use tools::{ToolContext, ToolError, source, tool};

/// The service that the tool needs: English words and their French ones.
struct Dictionary(BTreeMap<&'static str, &'static str>);

/// Translates a text word by word into French. Unknown words stay as they are.
#[tool(name = "word.translate", pure, needs = Dictionary)]
fn translate(
    cx: &ToolContext,
    /// The English text.
    text: String,
) -> Result<String, ToolError> {
    let dictionary = cx.need::<Dictionary>()?;
    let words = text
        .split_whitespace()
        .map(|word| dictionary.0.get(word).copied().unwrap_or(word));
    Ok(words.collect::<Vec<_>>().join(" "))
}

/// Creates a model for demonstrations: it makes one call and then answers.
const DEMO: ProviderSubmission = ProviderSubmission {
    name: "demo",
    description: "one call, then an answer",
    source: source!(),
    service: |_| None,
    create: |_| {
        let script = r#"[{"calls": [{"name": "word.translate", "arguments": {"text": "good morning"}}]}, {"text": "Done."}]"#;
        Ok(Arc::new(Scripted::from_json(script)?))
    },
};

fn main() -> ExitCode {
    toolcrib::Program::new()
        .with_name("translator")
        .with_version(env!("CARGO_PKG_VERSION"))
        .with_default_settings("select = ['word.*']")
        .with_service(Dictionary(BTreeMap::from([
            ("good", "bon"),
            ("morning", "matin"),
        ])))
        .with_provider(DEMO)
        .main()
}

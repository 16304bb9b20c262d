//! Puts a turn between results and a prompt, where the model requires one.

use rig_core::message::{AssistantContent, AssistantMessage, Message, Text, UserContent};

use super::Api;

/// The turn between results and a prompt, such as that for a summary.
const TURN: &str = "Understood.";

/// The beginnings of the names of Mistral's models, which gateways serve too.
const MISTRAL: [&str; 7] = [
    "codestral",
    "devstral",
    "magistral",
    "ministral",
    "mistral",
    "open-mistral",
    "pixtral",
];

/// Returns true if the model refuses a user's message right after results, as Mistral's do ("Unexpected role 'user' after role 'tool'",
/// <https://github.com/BerriAI/litellm/issues/17761>).
pub(super) fn separates_results(api: Api, dialect: &str, model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    api == Api::OpenAi
        && (dialect == "mistral" || MISTRAL.iter().any(|prefix| name.starts_with(prefix)))
}

/// Returns the messages with a turn between results and other content of the user.
pub(super) fn with_separated_results(history: Vec<Message>) -> Vec<Message> {
    let mut separated = Vec::with_capacity(history.len());
    let mut ends_with_results = false;
    for message in history {
        let Message::User { content } = message else {
            ends_with_results = false;
            separated.push(message);
            continue;
        };
        let (results, prompt): (Vec<_>, Vec<_>) = content
            .into_iter()
            .partition(|content| matches!(content, UserContent::ToolResult(_)));
        if !results.is_empty() {
            ends_with_results = true;
            separated.push(Message::User { content: results });
        }
        if !prompt.is_empty() {
            if std::mem::take(&mut ends_with_results) {
                let turn = vec![AssistantContent::Text(Text::new(TURN))];
                separated.push(Message::Assistant(AssistantMessage::new(turn)));
            }
            separated.push(Message::User { content: prompt });
        }
    }
    separated
}

#[cfg(test)]
mod tests {
    use rig_core::message::{CallId, ToolName, ToolResult};

    use super::*;

    #[test]
    fn a_turn_comes_between_results_and_what_else_the_user_sends() {
        let result = || {
            let (call, name) = (CallId::from_wire("c1"), ToolName::new("read").unwrap());
            UserContent::ToolResult(ToolResult {
                call,
                name,
                content: Vec::new(),
                is_error: false,
            })
        };
        let text = || UserContent::Text(Text::new("on"));
        let user = |content| Message::User { content };
        let roles = |history| {
            let role = |message: &Message| match message {
                Message::User { content }
                    if matches!(content[..], [UserContent::ToolResult(_), ..]) =>
                {
                    'r'
                }
                Message::User { .. } => 'u',
                _ => 'a',
            };
            with_separated_results(history)
                .iter()
                .map(role)
                .collect::<String>()
        };
        assert_eq!(roles(vec![user(vec![text()]), user(vec![text()])]), "uu");
        assert_eq!(
            roles(vec![user(vec![result(), result()]), user(vec![text()])]),
            "rau"
        );
        assert_eq!(
            roles(vec![user(vec![result(), text()]), user(vec![text()])]),
            "rauu"
        );
    }

    #[test]
    fn the_models_of_mistral_are_known_at_each_service() {
        for (dialect, model) in [
            ("mistral", "some-tuned-model"),
            ("openai", "mistral-large-latest"),
            ("openrouter", "mistralai/devstral-2512"),
            ("openai", "mistralai/Ministral-3B"),
        ] {
            assert!(separates_results(Api::OpenAi, dialect, model), "{model}");
        }
        assert!(!separates_results(Api::OpenAi, "openai", "gpt-4o"));
        assert!(!separates_results(Api::Ollama, "openai", "mistral"));
    }
}

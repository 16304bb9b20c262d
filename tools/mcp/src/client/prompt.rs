//! Prompts of servers.

use rmcp::model::{ClientRequest, GetPromptRequest, GetPromptRequestParams, JsonObject};
use rmcp::service::ServiceError;
use serde::Deserialize;
use serde_json::Value;
use tools::protocol::Role;
use tools::{Content, ToolContext, ToolErrorKind};

use crate::client::error::ImportError;
use crate::client::failure::failure;
use crate::client::imported::{Imported, Items};
use crate::client::result::{items, readable_block};
use crate::client::rounds;

/// A prompt that a server lists.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Prompt {
    /// The name.
    pub name: String,
    /// A display name for people.
    pub title: Option<String>,
    /// A description.
    pub description: Option<String>,
    /// The arguments.
    #[serde(default)]
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a [`Prompt`], which is a text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct PromptArgument {
    /// The name.
    pub name: String,
    /// A description.
    pub description: Option<String>,
    /// True if the prompt needs it.
    #[serde(default, rename = "required")]
    pub is_required: bool,
}

/// A message of a prompt.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptMessage {
    /// The sender: the user or the assistant.
    pub role: Role,
    /// The content.
    pub content: Content,
}

impl Imported {
    /// Lists the prompts. The texts are those of the server: show them with [`visible_line`](tools::visible_line) or
    /// [`visible_text`](tools::visible_text).
    ///
    /// # Errors
    /// Returns an error if the server is not connected or does not list them.
    pub async fn prompts(&self) -> Result<Items<Prompt>, ImportError> {
        self.items(&self.lists.prompts).await
    }

    /// Makes the messages of a prompt from arguments. A person's answers to questions of the server come from the context.
    ///
    /// # Errors
    /// Returns an error if the server is not connected or refuses the arguments.
    pub async fn prompt(
        &self,
        cx: &ToolContext,
        name: &str,
        arguments: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Vec<PromptMessage>, ToolErrorKind> {
        let arguments: JsonObject = arguments
            .into_iter()
            .map(|(name, value)| (name, Value::String(value)))
            .collect();
        let peer = self.peer()?;
        // A result with a defective message is none for rmcp.
        let result = rounds::request(self, &peer, cx, |answers| {
            let mut params = GetPromptRequestParams::new(name).with_arguments(arguments.clone());
            (params.input_responses, params.request_state) = (answers.responses, answers.state);
            ClientRequest::from(GetPromptRequest::new(params))
        })
        .await?;
        readable_messages(serde_json::to_value(result).unwrap_or_default())
            .ok_or_else(|| failure(self.name(), ServiceError::UnexpectedResponse))
    }
}

/// Returns the messages of a result that may have defects. Each block is read by itself. Returns `None` if there are none.
fn readable_messages(mut result: Value) -> Option<Vec<PromptMessage>> {
    let messages = result.get_mut("messages").map(Value::take)?;
    let messages = items(messages).into_iter().flat_map(|mut message| {
        let role = if message["role"] == "assistant" {
            Role::Assistant
        } else {
            Role::User
        };
        let blocks = match message.get_mut("content") {
            Some(content) => items(content.take()),
            None => vec![message],
        };
        blocks.into_iter().map(move |value| PromptMessage {
            role,
            content: readable_block(value),
        })
    });
    Some(messages.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_prompt_with_a_defective_message_keeps_the_others() {
        let read = readable_messages(json!({"messages": [
            {"role": "user", "content": {"type": "text", "text": "Review."}},
            {"role": "assistant", "content": "plain"},
            {"role": "system", "content": [{"type": "text", "text": "one"}, {"type": "json", "json": {"a": 1}}]},
            "alone",
        ]}));
        let read: Vec<_> = read
            .unwrap()
            .into_iter()
            .map(|message| (message.role, message.content))
            .collect();
        let text = |role, text: &str| (role, Content::text(text));
        assert_eq!(
            read[..3],
            [
                text(Role::User, "Review."),
                text(Role::Assistant, "plain"),
                text(Role::User, "one")
            ]
        );
        assert!(
            read[3].1.as_text().unwrap().contains(r#""json":{"a":1}"#),
            "{read:?}"
        );
        assert_eq!(read[4], text(Role::User, "alone"));
        assert_eq!(readable_messages(json!({"items": []})), None);
    }
}

//! [`ClientModel`]: the model of an MCP client, for the tools that are served to it.

use agent::{ModelChoice, Provider, ProviderError, ProviderInfo, Request, Turn, TurnFuture};
use serde_json::{Value, json};
use tools::protocol::Role;
use tools_mcp::server::{Peer, PeerRequest};

/// The name of the provider.
const NAME: &str = "client";

/// The maximum number of tokens of an answer.
const MAX_TOKENS: u32 = 4096;

/// The model of the client that calls a tool. The client decides whether it answers, and with which model.
pub(super) struct ClientModel(pub(super) Option<Peer>);

/// Returns the name of the model.
pub(super) fn name() -> ModelChoice {
    ModelChoice::new(NAME, None)
}

impl Provider for ClientModel {
    fn about(&self) -> &ProviderInfo {
        // The client pays.
        static CLIENT: ProviderInfo = ProviderInfo::unmetered(NAME);
        &CLIENT
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        Box::pin(async move {
            let failed = |message: String| ProviderError::Failed {
                provider: NAME.to_owned(),
                message,
            };
            let peer = self
                .0
                .as_ref()
                .ok_or_else(|| failed("there is no client outside of its calls".to_owned()))?;
            let all = request.messages.iter();
            let (system, others): (Vec<_>, Vec<_>) =
                all.partition(|message| message.role == Role::System);
            let messages: Vec<_> = others
                .iter()
                .map(|message| {
                    let role = if message.role == Role::Assistant {
                        "assistant"
                    } else {
                        "user"
                    };
                    json!({"role": role, "content": {"type": "text", "text": message.to_text()}})
                })
                .collect();
            let mut params = json!({"messages": messages, "maxTokens": MAX_TOKENS});
            if !system.is_empty() {
                let texts: Vec<_> = system.iter().map(|message| message.to_text()).collect();
                params["systemPrompt"] = texts.join("\n\n").into();
            }
            let answer = peer
                .request_unlimited(PeerRequest::new("sampling/createMessage", params))
                .await;
            let answer = answer.map_err(|error| failed(error.to_string()))?;
            let text = text(&answer)
                .ok_or_else(|| failed("the client's model gave no text".to_owned()))?;
            Ok(Turn::answer(text))
        })
    }
}

/// Returns the text of an answer, whose content is a block or a list of blocks. Returns `None` if it has none.
fn text(answer: &Value) -> Option<String> {
    let content = &answer["content"];
    let blocks = content
        .as_array()
        .map_or(std::slice::from_ref(content), Vec::as_slice);
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    let texts: Vec<_> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

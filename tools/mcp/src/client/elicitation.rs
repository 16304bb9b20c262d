//! Questions of a server to the person.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::Value;
use tools::protocol::Normaliser;
use tools::{ToolContext, visible_line, visible_text};

use crate::client::form::{confirm, fill};
use crate::client::server_name::ServerName;

/// The maximum length of a server's text in a question, in characters.
const MAX_TEXT: usize = 1000;

/// The maximum length of a URL that is shown, in characters.
const MAX_URL: usize = 800;

/// Asks the person of a call. Declines without a call or a person, and for a question that cannot be asked.
pub(super) async fn elicit(
    server: &ServerName,
    cx: Option<&ToolContext>,
    params: ElicitRequestParams,
) -> ElicitResult {
    let declined = || ElicitResult::new(ElicitationAction::Decline);
    let Some(cx) = cx else { return declined() };
    match params {
        ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } => match fill(cx, &add_name(server, &message), &requested_schema).await {
            Ok(values) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(values))
            }
            Err(action) => ElicitResult::new(action),
        },
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            let shown = visible_line(&url, MAX_URL);
            // User info would look like a host, and is refused.
            let host = Normaliser::Host.apply(&url).ok().filter(|_| shown == url);
            let Some(host) = host else { return declined() };
            let text = format!(
                "{}\n\nOpen this address yourself if you trust its host: {shown}\nHost: {host}\nHave you?",
                add_name(server, &message)
            );
            ElicitResult::new(confirm(cx, &text).await)
        }
        _ => declined(),
    }
}

/// Returns a message of a server under its name.
fn add_name(server: &ServerName, message: &str) -> String {
    let message = visible_text(message);
    let mut kept: String = message.chars().take(MAX_TEXT).collect();
    if kept.len() < message.len() {
        kept.push('…');
    }
    format!("The MCP server {server} asks: {kept}")
}

//! Prompts of the servers of a session.

use std::time::Duration;

use host::PromptCall;
use tools::protocol::{ResourceContents, Role};
use tools::{Content, OutsideText, ToolContext, counted, head, visible_line};
use tools_mcp::client::{Imported, Prompt, PromptMessage, Status};

use crate::attach::Attached;
use crate::error::McpError;

/// The maximum length of the text of a prompt, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// The maximum length of a shown name or description, in characters.
const MAX_SHOWN: usize = 100;

/// The time for a prompt, in which the server may ask the person.
const LIMIT: Duration = Duration::from_secs(300);

/// The maximum number of names in an error.
const MAX_NAMES: usize = 20;

impl Attached {
    /// Returns the commands of the prompts that servers list, with their descriptions. Servers that were not needed yet are connected
    /// if `connects` is true, and left out otherwise. The second list has the reasons of those that cannot be listed.
    pub(super) async fn list_prompts(&self, connects: bool) -> (Vec<[String; 2]>, Vec<String>) {
        let mut rows = Vec::new();
        let mut failures = Vec::new();
        for server in self.servers.list() {
            if !connects && !matches!(server.status(), Status::Connected { .. }) {
                continue;
            }
            match server.prompts().await {
                Ok(listed) => rows.extend(listed.items.iter().map(|prompt| {
                    let about = prompt.description.as_deref().or(prompt.title.as_deref());
                    let about = about.unwrap_or("a prompt of this MCP server");
                    [usage(&server, prompt), visible_line(about, MAX_SHOWN)]
                })),
                Err(error) => failures.push(error.to_string()),
            }
        }
        (rows, failures)
    }

    /// Returns the text of a prompt of a server, marked as that server's.
    pub(super) async fn read_prompt(
        &self,
        call: &PromptCall,
        cx: &ToolContext,
    ) -> Result<String, McpError> {
        let server = &call.server;
        let name = &call.prompt;
        let arguments = &call.arguments;
        let imported = self.servers.get(server);
        let imported = imported.ok_or_else(|| McpError::NoServer(server.clone()))?;
        let refused = |reason: String| McpError::ServerPrompt(server.clone(), reason);
        let listed = imported.prompts().await?.items;
        let Some(prompt) = listed.iter().find(|prompt| prompt.name == *name) else {
            let names = names(listed.iter().map(|prompt| &*prompt.name));
            return Err(refused(format!(
                "there is no prompt {name:?}; it has {names}"
            )));
        };
        check(prompt, arguments)
            .map_err(|reason| refused(format!("{reason}; write {}", usage(&imported, prompt))))?;
        let made =
            tokio::time::timeout(LIMIT, imported.prompt(cx, name, arguments.iter().cloned())).await;
        let Ok(messages) = made else {
            return Err(refused(format!(
                "it has not answered within {LIMIT:?}; see whether it runs"
            )));
        };
        let messages = messages.map_err(|error| refused(error.to_string()))?;
        // The text of a prompt is the server's, whatever effects the user has declared.
        cx.record_exposure();
        Ok(turn(&imported, prompt, &messages))
    }
}

/// Returns the command of a prompt with its arguments.
fn usage(server: &Imported, prompt: &Prompt) -> String {
    let name = visible_line(&prompt.name, MAX_SHOWN);
    let mut usage = format!("/{}:{name}", server.name());
    for argument in &prompt.arguments {
        let name = visible_line(&argument.name, MAX_SHOWN);
        usage += &if argument.is_required {
            format!(" {name}=…")
        } else {
            format!(" [{name}=…]")
        };
    }
    usage
}

/// Returns the reason why a prompt does not take these arguments.
fn check(prompt: &Prompt, arguments: &[(String, String)]) -> Result<(), String> {
    let given = |name: &str| arguments.iter().filter(|(given, _)| given == name).count();
    let missing = prompt
        .arguments
        .iter()
        .filter(|argument| argument.is_required && given(&argument.name) == 0);
    let missing: Vec<_> = missing.map(|argument| &*argument.name).collect();
    if !missing.is_empty() {
        return Err(format!("the prompt needs {}", names(missing.into_iter())));
    }
    for (name, _) in arguments {
        let mut known = prompt.arguments.iter();
        if !known.any(|argument| argument.name == *name) {
            return Err(format!("the prompt has no argument {name:?}"));
        }
        if given(name) > 1 {
            return Err(format!("the argument {name:?} is given twice"));
        }
    }
    Ok(())
}

fn names<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let others = names.len().saturating_sub(MAX_NAMES) as u64;
    let mut shown: Vec<_> = names
        .take(MAX_NAMES)
        .map(|name| visible_line(name, MAX_SHOWN))
        .collect();
    if others > 0 {
        shown.push(counted(others, "other"));
    }
    if shown.is_empty() {
        "none".to_owned()
    } else {
        shown.join(", ")
    }
}

/// Returns the messages as one turn of the user.
fn turn(server: &Imported, prompt: &Prompt, messages: &[PromptMessage]) -> String {
    let mut text = String::new();
    for message in messages {
        if messages.len() > 1 {
            text += match message.role {
                Role::Assistant => "[assistant]\n",
                _ => "[user]\n",
            };
        }
        text += &content(&message.content);
        text += "\n\n";
    }
    let text = text.trim_end();
    let shown = head(text, MAX_BYTES);
    let name = visible_line(&prompt.name, MAX_SHOWN);
    let source = format!("the prompt {name} of the MCP server {}", server.name());
    let cut = if shown.len() < text.len() {
        "\n(the rest of the text was left out)"
    } else {
        ""
    };
    format!(
        "I chose {source}. The server wrote its text, and I have not checked it:\n\n{}{cut}",
        OutsideText::new(&source, shown)
    )
}

/// Returns the text of a content, or its kind.
fn content(content: &Content) -> String {
    match content {
        Content::Text { text } => text.clone(),
        Content::Resource {
            resource: ResourceContents::Text { uri, text, .. },
        } => format!("{uri}:\n{text}"),
        Content::ResourceLink { uri, .. } => format!("[a link to {uri}]"),
        Content::Image { mime_type, .. } => format!("[an image, {mime_type}, left out]"),
        Content::Audio { mime_type, .. } => format!("[audio, {mime_type}, left out]"),
        _ => "[binary content, left out]".to_owned(),
    }
}

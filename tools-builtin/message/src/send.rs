//! `message.send`: a message to a channel.

use serde::Deserialize;
use tools::protocol::is_invisible;
use tools::{JsonSchema, Preview, ToolContext, ToolError, tool, visible_text};

use crate::channel_settings::Channel;
use crate::channels::{Channels, REPLY};
use crate::delivery::{Delivery, OutgoingMessage};
use crate::error::SendError;

/// Sends a message to a channel that the user configured, or to the chat of this conversation. It is sent at most once: if the result is
/// unclear, do not send it again.
#[tool(
    name = "message.send",
    title = "Send a message",
    writes = "message:{channel}",
    needs = Channels,
    check = check,
    preview = describe,
    tags = ["messages"],
    timeout = "200s",
    example({"text": "The backup is done."}),
    example({"channel": "mail", "subject": "Backup", "text": "The backup of today is done."}),
)]
pub(crate) async fn send(
    cx: &ToolContext,
    #[args] call: SendArguments,
) -> Result<String, ToolError> {
    let channels = cx.need::<Channels>()?;
    let message = message(cx, &channels, call)?;
    let (channel, client) = channels.get(&message.channel)?;
    let message = &message;
    let delivery = Delivery {
        cx,
        client,
        message,
    };
    channel.send(delivery).await?;
    Ok(format!("sent to {}", message.channel))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "tools::schemars")]
pub(crate) struct SendArguments {
    /// The name of the channel. `reply` is the chat of this conversation.
    #[serde(default = "reply")]
    #[schemars(regex(pattern = "^[A-Za-z0-9._-]{1,64}$"))]
    channel: String,
    /// The text, as plain text.
    #[schemars(length(min = 1, max = 20_000))]
    text: String,
    /// The subject: one line. Channels without subjects put it before the text.
    #[schemars(length(min = 1, max = 200))]
    subject: Option<String>,
    /// Recipients of a mail, among those of the channel. All of them if omitted or empty.
    #[serde(default)]
    #[schemars(length(max = 50))]
    to: Vec<String>,
}

/// Refuses a blank text and a channel that nobody needs to be asked about. Recipients are left out: the model may not know them before the call is allowed.
fn check(cx: &ToolContext, call: SendArguments) -> Result<(), ToolError> {
    if call.text.chars().all(|c| c == ' ' || is_invisible(c)) {
        return Err(SendError::not_sent("the text is blank; write the message").into());
    }
    let channels = cx.need::<Channels>()?;
    let message = address_reply(cx, &channels, call.channel, String::new())?;
    channels.get(&message.channel).map(drop)
}

/// Names the place of a message for the person who is asked about it: the arguments name the channel alone.
async fn describe(cx: &ToolContext, call: SendArguments) -> Result<Preview, ToolError> {
    let channels = cx.need::<Channels>()?;
    let message = message(cx, &channels, call)?;
    let (channel, _) = channels.get(&message.channel)?;
    let chat = message
        .chat
        .as_ref()
        .map(|chat| format!(", chat {}", visible_text(chat)));
    let host =
        Channels::target(channel).map(|target| format!(", by {}", target.to_clause().pattern()));
    let mut shown = format!(
        "sends to: {}{}{}",
        message.channel,
        chat.unwrap_or_default(),
        host.unwrap_or_default()
    );
    if !message.recipients.is_empty() {
        let recipients = message.recipients.join(", ");
        shown += &format!("\nrecipients: {}", visible_text(&recipients));
    }
    Ok(Preview::summary(shown))
}

/// Completes the message of a call with its subject, the chat of a reply, and the recipients.
fn message(
    cx: &ToolContext,
    channels: &Channels,
    call: SendArguments,
) -> Result<OutgoingMessage, ToolError> {
    let subject = call.subject.map(checked_subject).transpose()?;
    let mut message = address_reply(cx, channels, call.channel, call.text)?;
    message.subject = subject;
    let (channel, _) = channels.get(&message.channel)?;
    message.recipients = choose(channel, &message.channel, &call.to)?;
    Ok(message)
}

/// Sets the channel and the chat of a reply.
fn address_reply(
    cx: &ToolContext,
    channels: &Channels,
    channel: String,
    text: String,
) -> Result<OutgoingMessage, ToolError> {
    let mut message = OutgoingMessage::new(channel, text);
    if message.channel == REPLY {
        let Some(channel) = cx.channel() else {
            return Err(ToolError::execution_failed(format!(
                "this conversation has no chat to reply in; {}",
                channels.suggest_channel()
            )));
        };
        message.channel = channel.to_owned();
        message.chat = cx.chat().map(str::to_owned);
    }
    Ok(message)
}

fn reply() -> String {
    REPLY.to_owned()
}

/// Returns the subject if it is one line without invisible characters: it becomes a header, in which they could forge others.
fn checked_subject(subject: String) -> Result<String, SendError> {
    if subject.chars().any(|c| is_invisible(c) || c.is_control()) || subject.trim().is_empty() {
        Err(SendError::not_sent(
            "the subject is blank, or has line breaks or invisible characters; write one plain line",
        ))
    } else {
        Ok(subject)
    }
}

/// Returns the recipients of the channel that the call names, or all of them.
fn choose(channel: &dyn Channel, name: &str, wanted: &[String]) -> Result<Vec<String>, SendError> {
    let all = channel.recipients();
    if wanted.is_empty() {
        return Ok(all.to_vec());
    }
    if all.is_empty() {
        return Err(SendError::not_sent(format!(
            "the channel {name} has no recipients to choose from; leave out `to`"
        )));
    }
    let is_known = |wanted: &String| all.iter().any(|one| is_named(one, wanted));
    if !wanted.iter().all(is_known) {
        return Err(SendError::not_sent(format!(
            "`to` names a recipient that the channel {name} does not have; use some of: {}",
            all.join(", ")
        )));
    }
    let chosen = all
        .iter()
        .filter(|one| wanted.iter().any(|wanted| is_named(one, wanted)));
    Ok(chosen.cloned().collect())
}

/// Returns true if the text names the recipient. `Ada <ada@example.org>` is also named by its address.
fn is_named(one: &str, wanted: &str) -> bool {
    let inner = one.strip_suffix('>').and_then(|one| one.rsplit_once('<'));
    one == wanted || inner.is_some_and(|(_, address)| address == wanted)
}

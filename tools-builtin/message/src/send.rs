//! `message.send`: a message to a channel.

use tools::protocol::is_invisible;
use tools::{Preview, ToolContext, ToolError, tool, visible_text};

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
) -> Result<String, ToolError> {
    let channels = cx.need::<Channels>()?;
    let message = message(cx, &channels, channel, text, subject, &to)?;
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

/// Refuses a blank text and a channel that nobody needs to be asked about. Recipients are left out: the model may not know them before the call is allowed.
fn check(
    cx: &ToolContext,
    channel: String,
    text: String,
    _subject: Option<String>,
    _to: Vec<String>,
) -> Result<(), ToolError> {
    if text.chars().all(|c| c == ' ' || is_invisible(c)) {
        return Err(SendError::not_sent("the text is blank; write the message").into());
    }
    let channels = cx.need::<Channels>()?;
    let message = address_reply(cx, &channels, channel, String::new())?;
    channels.get(&message.channel).map(drop)
}

/// Names the place of a message for the person who is asked about it: the arguments name the channel alone.
async fn describe(
    cx: &ToolContext,
    channel: String,
    text: String,
    subject: Option<String>,
    to: Vec<String>,
) -> Result<Preview, ToolError> {
    let channels = cx.need::<Channels>()?;
    let message = message(cx, &channels, channel, text, subject, &to)?;
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
        shown += &format!(
            "\nrecipients: {}",
            visible_text(&message.recipients.join(", "))
        );
    }
    Ok(Preview::summary(shown))
}

/// Completes the message of a call with its subject, the chat of a reply, and the recipients.
fn message(
    cx: &ToolContext,
    channels: &Channels,
    channel: String,
    text: String,
    subject: Option<String>,
    to: &[String],
) -> Result<OutgoingMessage, ToolError> {
    let subject = subject.map(checked_subject).transpose()?;
    let mut message = address_reply(cx, channels, channel, text)?;
    message.subject = subject;
    let (channel, _) = channels.get(&message.channel)?;
    message.recipients = choose(channel, &message.channel, to)?;
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
    match subject.chars().any(|c| is_invisible(c) || c.is_control()) || subject.trim().is_empty() {
        true => Err(SendError::not_sent(
            "the subject is blank, or has line breaks or invisible characters; write one plain line",
        )),
        false => Ok(subject),
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
    // `Ada <ada@example.org>` is also named by its address.
    let is_named = |one: &str, wanted: &str| {
        one == wanted
            || one
                .strip_suffix('>')
                .and_then(|one| one.rsplit_once('<'))
                .is_some_and(|(_, one)| one == wanted)
    };
    match wanted
        .iter()
        .find(|wanted| !all.iter().any(|one| is_named(one, wanted)))
    {
        Some(_) => Err(SendError::not_sent(format!(
            "`to` names a recipient that the channel {name} does not have; use some of: {}",
            all.join(", ")
        ))),
        None => Ok(all
            .iter()
            .filter(|one| wanted.iter().any(|wanted| is_named(one, wanted)))
            .cloned()
            .collect()),
    }
}

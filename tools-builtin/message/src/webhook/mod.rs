//! Webhooks: a request with the message as JSON.

mod listener;
mod seen;
mod signature;
mod slack;

use std::ops::RangeInclusive;
use std::sync::Arc;

use serde_json::{Value, json};
use tools::protocol::HostPlace;
use tools::source;
use tools_http::{Method, Request, StatusCode, Url};

use self::listener::Listener;
use self::signature::Signature;
use crate::channel_settings::{Channel, ChannelSettings, SendFuture};
use crate::delivery::{Delivery, OutgoingMessage};
use crate::error::{ChannelError, SendError, field};
use crate::incoming::{Inbox, IncomingMessage, ListenFuture};
use crate::kind::{ChannelField, ChannelKind, FieldType};

/// The minimum length of a key in bytes.
const MIN_KEY: usize = 16;

inventory::submit! {
    ChannelKind {
        name: "webhook",
        description: "posts messages to a URL as JSON, also in the form that Slack takes",
        source: source!(),
        fields: &[
            ChannelField::optional("url", FieldType::Secret),
            ChannelField::optional("format", FieldType::Text),
            ChannelField::optional("chat", FieldType::Text),
            ChannelField::optional("listen", FieldType::Text),
            ChannelField::optional("hosts", FieldType::List),
            ChannelField::optional("key", FieldType::Secret),
        ],
        create,
    }
}

/// The form of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// Channel, chat, subject and text.
    Generic,
    /// The text, and the thread of an answer, as Slack and services with its form of webhooks take it.
    Slack,
}

/// A URL that takes messages. The URL is a secret: it is all that a sender needs.
struct Webhook {
    url: Option<Url>,
    format: Format,
    /// The channel of Slack that the URL posts to.
    chat: Option<String>,
    listener: Option<Arc<Listener>>,
}

fn create(settings: &ChannelSettings) -> Result<Arc<dyn Channel>, ChannelError> {
    let format = match settings.text("format") {
        None | Some("json") => Format::Generic,
        Some("slack") => Format::Slack,
        Some(_) => {
            let fault = "is neither json nor slack; write one of them";
            return Err(field("format", fault));
        }
    };
    let url = match settings.secret("url") {
        None => None,
        // The error of a URL repeats it.
        Some(url) => {
            let Ok(request) = Request::new(Method::POST, url.expose().trim()) else {
                let fault = "does not hold an http or https URL without credentials; correct it";
                return Err(field("url", fault));
            };
            let url = request.url().clone();
            let place = HostPlace::from_host(url.host_str().unwrap_or_default());
            if url.scheme() == "http" && place != HostPlace::ThisMachine {
                let fault = "would be sent without encryption; write https";
                return Err(field("url", fault));
            }
            Some(url)
        }
    };
    let chat = settings.text("chat").map(str::to_owned);
    if chat.is_some() && format != Format::Slack {
        return Err(field("chat", "is for the format slack; remove it"));
    }
    let listener = match (settings.text("listen"), settings.secret("key")) {
        (None, None) if url.is_none() => {
            let fault = "is missing; set url_env or url_file, or `listen` with a key";
            return Err(field("url", fault));
        }
        (None, None) => None,
        (Some(_), None) => {
            let fault = "is missing, without which anybody could write; set key_env or key_file";
            return Err(field("key", fault));
        }
        (None, Some(_)) => {
            let fault = "is missing; write an address such as 127.0.0.1:8787";
            return Err(field("listen", fault));
        }
        (Some(_), Some(key)) if key.expose().trim().len() < MIN_KEY => {
            let fault = "has fewer than 16 bytes, which can be guessed; use a longer one";
            return Err(field("key", fault));
        }
        (Some(_), Some(_)) if format == Format::Slack && chat.is_none() => {
            let fault = "is missing; write the id of the Slack channel that the URL posts to, such as C0123, because answers go there";
            return Err(field("chat", fault));
        }
        (Some(address), Some(key)) => {
            let fault = "is not an address such as 127.0.0.1:8787; correct it";
            Some(Arc::new(Listener {
                address: address.parse().map_err(|_| field("listen", fault))?,
                hosts: settings.list("hosts").to_vec(),
                signature: Signature::new(key.clone(), format == Format::Slack),
                format,
                chat: chat.clone(),
            }))
        }
    };
    Ok(Arc::new(Webhook {
        url,
        format,
        chat,
        listener,
    }))
}

impl Channel for Webhook {
    fn server(&self) -> Option<&Url> {
        self.url.as_ref()
    }

    fn send<'a>(&'a self, delivery: Delivery<'a>) -> SendFuture<'a> {
        Box::pin(async move {
            let Some(url) = &self.url else {
                let fault =
                    "the channel has no URL to send to; ask the user to set url_env or url_file";
                return Err(SendError::not_sent(fault));
            };
            let request =
                Request::new(Method::POST, url.as_str()).map_err(SendError::from_connecting)?;
            let mut request = request
                .with_json(&self.body(delivery.message)?)
                .map_err(SendError::from_connecting)?;
            // Elsewhere, it could be sent twice, or be read by others.
            request.max_redirects = 0;
            // The status says all, so the body is not waited for.
            let answered = delivery.client.stream(delivery.cx, request).await;
            check(answered.map_err(SendError::from_request)?.status)
        })
    }

    fn listen(&self, inbox: Inbox) -> Option<ListenFuture<'_>> {
        let listener = self.listener.clone()?;
        Some(Box::pin(listener.listen(inbox)))
    }
}

impl Webhook {
    fn body(&self, message: &OutgoingMessage) -> Result<Value, SendError> {
        let chat = &message.chat;
        let subject = &message.subject;
        let text = &message.text;
        if self.format == Format::Generic {
            return Ok(
                json!({"channel": message.channel, "chat": chat, "subject": subject, "text": text}),
            );
        }
        let subject = subject.as_ref().map(|subject| format!("{subject}\n\n"));
        let subject = subject.unwrap_or_default();
        let mut body = json!({"text": slack::escape(&format!("{subject}{text}"))});
        let (to, thread) = chat.as_deref().map(slack::parts).unzip();
        // An answer must not go to other people than those of its chat.
        if to.is_some() && to != self.chat.as_deref() {
            return Err(SendError::not_sent(
                "the URL of the channel posts to one channel of Slack, and not to this chat; ask the user to set `chat`",
            ));
        }
        if let Some(thread) = thread.flatten() {
            body["thread_ts"] = thread.into();
        }
        Ok(body)
    }
}

tools::debug_fields!(self: Webhook { format, listener });

/// The meaning of an answer for a message, which is sent at most once.
#[derive(Clone, Copy)]
enum Taken {
    Yes,
    /// Certainly not.
    No,
    /// Certainly not, and the same message may be sent later.
    NotNow,
    /// The service may have it.
    Perhaps,
}

/// The statuses with their meaning by RFC 9110 (429 by RFC 6585), and the reason. The first row of a status counts.
const ANSWERS: [(RangeInclusive<u16>, Taken, &str); 8] = [
    (200..=299, Taken::Yes, ""),
    // 15.4: 303 is the answer to a request that was carried out, and in practice so are 301 and 302.
    (
        300..=399,
        Taken::Perhaps,
        "the server redirects, perhaps after it took the message",
    ),
    // 15.5.9: a gateway that did not get all of it in time may have passed it on.
    (408..=408, Taken::Perhaps, "the server ran out of time"),
    // 15.5.10: the message may be there already.
    (
        409..=409,
        Taken::Perhaps,
        "the server has a conflict, such as with a message that it took before",
    ),
    (
        429..=429,
        Taken::NotNow,
        "the server takes no messages for now",
    ),
    // 15.5: the server cannot or will not process the request, also with a status that is unknown.
    (400..=499, Taken::No, "the server refused it"),
    // 15.6.2: the server does not know the method.
    (501..=501, Taken::No, "the server does not take messages"),
    // 15.6: a gateway may answer for a service that took it, also with 503.
    (500..=599, Taken::Perhaps, "the server failed"),
];

/// Checks that the service took the message.
fn check(status: StatusCode) -> Result<(), SendError> {
    let code = status.as_u16();
    let mut rows = ANSWERS.iter();
    let (taken, reason) = match rows.find(|(statuses, ..)| statuses.contains(&code)) {
        Some((_, taken, reason)) => (*taken, *reason),
        None => (Taken::Perhaps, "the answer is unknown"),
    };
    match taken {
        Taken::Yes => Ok(()),
        Taken::No => Err(SendError::not_sent(format!(
            "{reason} with status {code}; ask the user to check the URL of the channel"
        ))),
        Taken::NotNow => Err(SendError::later(format!("{reason} (status {code})"))),
        Taken::Perhaps => Err(SendError::unclear(format!("{reason} (status {code})"))),
    }
}

/// A message in a body.
pub(super) enum Parsed {
    /// A message, and the id by which its sender repeats it.
    Message(IncomingMessage, Option<String>),
    /// A question whether somebody listens, with the answer.
    Challenge(String),
    /// A message of a chat that answers cannot go to.
    Elsewhere,
    /// Something else, such as a message of a program.
    Ignored,
}

/// Returns the text of a key.
pub(super) fn text(value: &Value, key: &str) -> Option<String> {
    value[key].as_str().map(str::to_owned)
}

/// Returns the message, or the reason that it is none.
pub(super) fn message(
    chat: Option<String>,
    said: Option<String>,
) -> Result<IncomingMessage, String> {
    let (Some(chat), Some(said)) = (chat, said) else {
        return Err("chat and text are required".to_owned());
    };
    IncomingMessage::new(chat, said).map_err(|error| error.to_string())
}

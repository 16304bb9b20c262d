//! Webhooks: a request with the message as JSON.

mod listener;
mod seen;
mod signature;

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use tools::source;
use tools_http::{Method, Request, StatusCode, Url};

use self::listener::Listener;
use self::signature::Signature;
use crate::{
    Channel, ChannelError, ChannelField, ChannelKind, ChannelSettings, Delivery, FieldType, Inbox, ListenFuture,
    OutgoingMessage, SendError, SendFuture,
};

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
    /// The text alone, as Slack and services with its form of webhooks take it.
    Slack,
}

/// A URL that takes messages. The URL is a secret: it is all that a sender needs.
struct Webhook {
    url: Option<Url>,
    format: Format,
    listener: Option<Listener>,
}

fn create(settings: &ChannelSettings) -> Result<Arc<dyn Channel>, ChannelError> {
    let field = |field, reason: &str| ChannelError::Field { field, reason: reason.to_owned() };
    let format = match settings.text("format") {
        None | Some("json") => Format::Generic,
        Some("slack") => Format::Slack,
        Some(_) => return Err(field("format", "is neither json nor slack; write one of them")),
    };
    let url = match settings.secret("url") {
        None => None,
        // The error of a URL repeats it.
        Some(url) => {
            let request = Request::new(Method::POST, url.expose().trim());
            let refused = |_| field("url", "does not hold an http or https URL without credentials; correct it");
            Some(request.map_err(refused)?.url().clone())
        }
    };
    let listener = match (settings.text("listen"), settings.secret("key")) {
        (None, None) => None,
        (Some(_), None) => {
            return Err(field("key", "is missing, without which anybody could write; set key_env or key_file"));
        }
        (None, Some(_)) => return Err(field("listen", "is missing; write an address such as 127.0.0.1:8787")),
        (Some(_), Some(key)) if key.expose().trim().len() < MIN_KEY => {
            return Err(field("key", "has fewer than 16 bytes, which can be guessed; use a longer one"));
        }
        (Some(address), Some(key)) => Some(Listener {
            address: address
                .parse()
                .map_err(|_| field("listen", "is not an address such as 127.0.0.1:8787; correct it"))?,
            hosts: settings.list("hosts").to_vec(),
            signature: Arc::new(Signature::new(key.clone(), format == Format::Slack)),
            is_slack: format == Format::Slack,
        }),
    };
    Ok(Arc::new(Webhook { url, format, listener }))
}

impl Channel for Webhook {
    fn server(&self) -> Option<&Url> {
        self.url.as_ref()
    }

    fn send<'a>(&'a self, delivery: Delivery<'a>) -> SendFuture<'a> {
        Box::pin(async move {
            let missing =
                || SendError::not_sent("the channel has no URL to send to; ask the user to set url_env or url_file");
            let url = self.url.as_ref().ok_or_else(missing)?;
            let request = Request::new(Method::POST, url.as_str()).map_err(SendError::from_connecting)?;
            let request = request.with_json(&self.body(delivery.message)).map_err(SendError::from_connecting)?;
            // The status says all, so the body is not waited for.
            let answered = delivery.client.stream(delivery.cx, request).await.map_err(SendError::from_request)?;
            check(answered.status)
        })
    }

    fn listen(&self, inbox: Inbox) -> Option<ListenFuture<'_>> {
        let listener = self.listener.as_ref()?;
        Some(Box::pin(listener.listen(inbox)))
    }
}

impl Webhook {
    fn body(&self, message: &OutgoingMessage) -> Value {
        let OutgoingMessage { channel, chat, subject, text, .. } = message;
        match self.format {
            Format::Generic => json!({"channel": channel, "chat": chat, "subject": subject, "text": text}),
            Format::Slack => {
                let subject = subject.as_ref().map(|subject| format!("{subject}\n\n")).unwrap_or_default();
                json!({"text": escaped(&format!("{subject}{text}"))})
            }
        }
    }
}

/// Escapes the characters with which a text could notify everybody or disguise a link.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Decides by the status whether the server took the message. A gateway may answer for a server that took it.
fn check(status: StatusCode) -> Result<(), SendError> {
    let code = status.as_u16();
    match code {
        200..=299 => Ok(()),
        429 | 503 => {
            Err(SendError::later(format!("the server takes no messages for now (status {code}); try again later")))
        }
        300..=499 => Err(SendError::not_sent(format!(
            "the server refused it with status {code}; ask the user to check the URL of the channel"
        ))),
        _ => Err(SendError::unclear(format!("the server failed with status {code}"))),
    }
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook")
            .field("format", &self.format)
            .field("listener", &self.listener)
            .finish_non_exhaustive()
    }
}

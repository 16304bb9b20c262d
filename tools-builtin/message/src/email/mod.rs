//! E-mail, over SMTP.

mod session;
mod stream;

use std::sync::Arc;

use data_encoding::HEXLOWER;
use lettre::message::header::{ContentTransferEncoding, ContentType};
use lettre::message::{Body, Mailbox, Message};
use lettre::transport::smtp::authentication::Credentials;
use tools::source;
use tools_http::Url;

use self::session::Encryption;
use crate::channel_settings::{Channel, ChannelSettings, SendFuture};
use crate::delivery::{Delivery, OutgoingMessage};
use crate::error::{ChannelError, SendError, field};
use crate::kind::{ChannelField, ChannelKind, FieldType};

inventory::submit! {
    ChannelKind {
        name: "email",
        description: "sends messages as mails through an SMTP server",
        source: source!(),
        fields: &[
            ChannelField::required("server", FieldType::Text),
            ChannelField::optional("port", FieldType::Integer),
            ChannelField::optional("encryption", FieldType::Text),
            ChannelField::optional("user", FieldType::Text),
            ChannelField::optional("password", FieldType::Secret),
            ChannelField::required("from", FieldType::Text),
            ChannelField::required("to", FieldType::List),
        ],
        create,
    }
}

/// A mailbox at an SMTP server, and the recipients that the user named.
#[derive(Debug)]
struct Email {
    host: String,
    port: u16,
    url: Url,
    encryption: Encryption,
    credentials: Option<Credentials>,
    from: Mailbox,
    recipients: Vec<String>,
}

fn create(settings: &ChannelSettings) -> Result<Arc<dyn Channel>, ChannelError> {
    let host = settings.require("server")?.to_owned();
    let encryption = match settings.text("encryption") {
        None | Some("tls") => Encryption::Tls,
        Some("starttls") => Encryption::StartTls,
        Some("none") => Encryption::None,
        Some(_) => {
            let fault = "is not tls, starttls or none; write one of them";
            return Err(field("encryption", fault));
        }
    };
    let port = match settings.text("port") {
        None => encryption.port(),
        Some(port) => port
            .parse()
            .map_err(|_| field("port", "is not a number from 1 to 65535; correct it"))?,
    };
    let url = Url::parse(&format!("http://{host}:{port}"));
    let is_host =
        |url: &Url| url.path() == "/" && url.username().is_empty() && url.password().is_none();
    let fault = "is not a host such as smtp.example.org; correct it";
    let url = url.ok().filter(is_host);
    let url = url.ok_or_else(|| field("server", fault))?;
    let credentials = match (settings.text("user"), settings.secret("password")) {
        (Some(_), Some(_)) if encryption == Encryption::None => {
            let fault =
                "would be sent without encryption; write encryption = \"tls\" or \"starttls\"";
            return Err(field("password", fault));
        }
        (Some(user), Some(password)) => Some(Credentials::new(
            user.to_owned(),
            password.expose().to_owned(),
        )),
        (None, None) => None,
        (Some(_), None) => {
            let fault = "is missing; set password_env or password_file";
            return Err(field("password", fault));
        }
        (None, Some(_)) => return Err(field("user", "is missing; set it")),
    };
    let from = settings.require("from")?;
    let from = mailbox(from).map_err(|reason| field("from", reason))?;
    let recipients = settings.list("to").to_vec();
    if recipients.is_empty() {
        return Err(field("to", "has no recipient; name one"));
    }
    for recipient in &recipients {
        mailbox(recipient).map_err(|reason| field("to", reason))?;
    }
    Ok(Arc::new(Email {
        host,
        port,
        url,
        encryption,
        credentials,
        from,
        recipients,
    }))
}

/// Parses a mailbox such as `Ada <ada@example.org>`, or returns the end of a sentence.
fn mailbox(text: &str) -> Result<Mailbox, String> {
    let mailbox = text.parse().ok().filter(|mailbox: &Mailbox| {
        let address: &str = mailbox.email.as_ref();
        address.is_ascii() && !text.chars().any(char::is_control)
    });
    mailbox.ok_or_else(|| {
 format!(
 "has {text:?}, which is not an address such as ada@example.org, or Ada <ada@example.org>; correct it"
 )
 })
}

impl Channel for Email {
    fn server(&self) -> Option<&Url> {
        Some(&self.url)
    }

    fn recipients(&self) -> &[String] {
        &self.recipients
    }

    fn send<'a>(&'a self, delivery: Delivery<'a>) -> SendFuture<'a> {
        Box::pin(async move {
            let recipients = delivery.message.recipients.iter();
            let to: Result<Vec<_>, _> = recipients.map(|recipient| mailbox(recipient)).collect();
            let to = to.map_err(SendError::not_sent)?;
            let letter = format(delivery.message, &self.from, &to)?;
            let Delivery { cx, client, .. } = delivery;
            let connection = client.connect(cx, &self.host, self.port).await;
            let connection = connection.map_err(SendError::from_connecting)?;
            session::send(
                connection,
                self.encryption,
                self.credentials.as_ref(),
                &self.from,
                &to,
                &letter,
            )
            .await
        })
    }
}

/// The subject of a message without one.
const NO_SUBJECT: &str = "Message";

/// Returns the mail in ASCII. The text is quoted-printable whatever it contains: lines are short, and no byte has a meaning for SMTP.
fn format(message: &OutgoingMessage, from: &Mailbox, to: &[Mailbox]) -> Result<Vec<u8>, SendError> {
    let invalid = |reason: String| {
        SendError::not_sent(format!("a mail cannot have this text: {reason}; change it"))
    };
    let body = Body::new_with_encoding(
        message.text.clone(),
        ContentTransferEncoding::QuotedPrintable,
    );
    let body = body.map_err(|_| invalid("it cannot be encoded".to_owned()))?;
    let mut number = [0; 16];
    getrandom::fill(&mut number).map_err(|error| SendError::later(error.to_string()))?;
    let id = format!("<{}@{}>", HEXLOWER.encode(&number), from.email.domain());
    let mut builder = Message::builder()
        .from(from.clone())
        .subject(message.subject.as_deref().unwrap_or(NO_SUBJECT))
        .message_id(Some(id))
        .header(ContentType::TEXT_PLAIN);
    for recipient in to {
        builder = builder.to(recipient.clone());
    }
    let formatted = builder
        .body(body)
        .map_err(|error| invalid(error.to_string()))?
        .formatted();
    if formatted.is_ascii() {
        Ok(formatted)
    } else {
        Err(invalid("a header is not ASCII".to_owned()))
    }
}

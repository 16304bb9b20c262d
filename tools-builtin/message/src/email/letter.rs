//! Formats a mail.

use data_encoding::HEXLOWER;
use lettre::message::header::{ContentTransferEncoding, ContentType};
use lettre::message::{Body, Mailbox, Message};

use crate::{OutgoingMessage, SendError};

/// The subject of a message without one.
const NO_SUBJECT: &str = "Message";

/// Returns the mail in ASCII. The text is quoted-printable whatever it contains: lines are short, and no byte has a meaning for SMTP.
pub(super) fn format(
    message: &OutgoingMessage,
    from: &Mailbox,
    to: &[Mailbox],
) -> Result<Vec<u8>, SendError> {
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
    match formatted.is_ascii() {
        true => Ok(formatted),
        false => Err(invalid("a header is not ASCII".to_owned())),
    }
}

//! A session with an SMTP server, which sends one mail.

use std::fmt::Display;
use std::time::Duration;

use lettre::message::Mailbox;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::{Error, response::Severity};
use tokio::time::timeout;
use tools_http::Connection;

use super::stream::SmtpStream;
use crate::error::SendError;

/// The time until the server wants the content of the mail.
const PREPARATION: Duration = Duration::from_secs(60);

/// The time until the server has taken the content.
const CONTENT: Duration = Duration::from_secs(60);

/// The time for the end of a session whose mail the server has taken.
const GOODBYE: Duration = Duration::from_secs(2);

/// The encryption of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encryption {
    /// From the first byte.
    Tls,
    /// After a command. The session ends if the server does not know it.
    StartTls,
    /// None at all.
    None,
}

impl Encryption {
    /// Returns the usual port.
    pub(super) fn port(self) -> u16 {
        match self {
            Self::Tls => 465,
            Self::StartTls => 587,
            Self::None => 25,
        }
    }
}

/// Sends a mail over a connection. Until the server wants the content, an error means that no mail was sent.
pub(super) async fn send(
    connection: Connection,
    encryption: Encryption,
    credentials: Option<&Credentials>,
    from: &Mailbox,
    to: &[Mailbox],
    letter: &[u8],
) -> Result<(), SendError> {
    let preparation = timeout(
        PREPARATION,
        prepare(connection, encryption, credentials, from, to),
    )
    .await;
    let mut session = preparation.map_err(|_| {
        SendError::later(format!(
            "the mail server did not answer within {PREPARATION:?}"
        ))
    })??;
    match timeout(CONTENT, session.message(letter)).await {
        Err(_) => {
            return Err(SendError::unclear(format!(
                "the mail server did not answer within {CONTENT:?}"
            )));
        }
        Ok(Err(error)) if error.status().is_none() => {
            return Err(SendError::unclear(
                "the connection to the mail server ended before it took or refused the mail",
            ));
        }
        Ok(Err(error)) => return Err(refuse("refused the mail", &error)),
        Ok(Ok(_)) => {}
    }
    // The mail is taken, however this ends.
    let _ = timeout(GOODBYE, session.quit()).await;
    Ok(())
}

/// Begins a session, up to the point where the server wants the content.
async fn prepare(
    connection: Connection,
    encryption: Encryption,
    credentials: Option<&Credentials>,
    from: &Mailbox,
    to: &[Mailbox],
) -> Result<AsyncSmtpConnection, SendError> {
    let client = ClientId::default();
    let stream = match encryption {
        Encryption::Tls => SmtpStream::new(
            connection
                .encrypt()
                .await
                .map_err(SendError::from_connecting)?,
        ),
        Encryption::StartTls => SmtpStream::start_tls(connection, &client).await?,
        Encryption::None => SmtpStream::new(connection),
    };
    let session = AsyncSmtpConnection::connect_with_transport(Box::new(stream), &client).await;
    let mut session = session.map_err(|error| refuse("refused the session", &error))?;
    if let Some(credentials) = credentials {
        let login = session
            .auth(&[Mechanism::Plain, Mechanism::Login], credentials)
            .await;
        login.map_err(|error| refuse("refused the login", &error))?;
    }
    let sender = Mail::new(Some(from.email.clone()), Vec::new());
    command(&mut session, sender, "refused the sender").await?;
    for recipient in to {
        let what = format!("refused the recipient {}", recipient.email);
        let recipient = Rcpt::new(recipient.email.clone(), Vec::new());
        command(&mut session, recipient, &what).await?;
    }
    command(&mut session, Data, "refused the mail").await?;
    Ok(session)
}

/// Sends a command, whose refusal is an error with `what` it means.
async fn command(
    session: &mut AsyncSmtpConnection,
    command: impl Display,
    what: &str,
) -> Result<(), SendError> {
    let answered = session.command(command).await;
    answered.map(drop).map_err(|error| refuse(what, &error))
}

/// Returns the error of a refusal. The reply of the server is left out, which may repeat the password.
fn refuse(what: &str, error: &Error) -> SendError {
    match error.status() {
        Some(code) if code.severity == Severity::TransientNegativeCompletion => {
            SendError::later(format!("the mail server {what} for now (reply {code})"))
        }
        Some(code) => SendError::not_sent(format!(
            "the mail server {what} (reply {code}); ask the user to check the settings of the channel"
        )),
        None if error.is_client() => SendError::not_sent(
            "the mail server offers no login that is known; ask the user to check the settings of the channel",
        ),
        None => SendError::later("the mail server ended the connection, or does not speak SMTP"),
    }
}

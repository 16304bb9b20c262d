//! [`SmtpStream`]: a connection for lettre, and the beginning of a session with STARTTLS.

use std::fmt::Display;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use lettre::transport::smtp::client::AsyncTokioStream;
use lettre::transport::smtp::commands::{Ehlo, Starttls};
use lettre::transport::smtp::extension::ClientId;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tools_http::Connection;

use crate::error::SendError;

/// The greeting of a server that has none, because it greeted before the encryption.
const GREETING: &[u8] = b"220 encrypted\r\n";

/// The maximum size of a reply.
const MAX_REPLY: usize = 16 * 1024;

/// A connection for lettre, which begins with a greeting.
#[derive(Debug)]
pub(super) struct SmtpStream {
    greeting: &'static [u8],
    connection: Connection,
    /// The bytes of the server since the last write.
    unanswered: usize,
}

impl SmtpStream {
    /// Creates the stream of a connection whose server greets.
    pub(super) fn new(connection: Connection) -> Self {
        Self {
            greeting: b"",
            connection,
            unanswered: 0,
        }
    }

    /// Asks the server for encryption, and creates the stream of the encrypted connection.
    ///
    /// Replies are read byte by byte. A reply that somebody adds behind that to STARTTLS is therefore taken for a part of the handshake,
    /// which fails. lettre would take it for a reply of the encrypted connection.
    pub(super) async fn start_tls(
        mut connection: Connection,
        client: &ClientId,
    ) -> Result<Self, SendError> {
        let refused = |what: &str| {
            SendError::not_sent(format!(
                "the mail server {what}; ask the user to check the encryption of the channel"
            ))
        };
        let broken = |_| SendError::later("the mail server ended the connection");
        let greeting = reply(&mut connection).await.map_err(broken)?;
        if !greeting.starts_with("220") {
            return Err(SendError::later("the mail server takes no mails for now"));
        }
        let extensions = ask(&mut connection, Ehlo::new(client.clone())).await;
        let extensions = extensions.map_err(broken)?;
        let mut offered = extensions.lines().filter_map(|line| line.get(4..));
        let has_tls = offered.any(|name| name.trim().eq_ignore_ascii_case("STARTTLS"));
        if !extensions.starts_with("250") || !has_tls {
            return Err(refused("does not offer STARTTLS"));
        }
        let answer = ask(&mut connection, Starttls).await.map_err(broken)?;
        if !answer.starts_with("220") {
            return Err(refused("refused STARTTLS"));
        }
        let connection = connection.encrypt().await;
        let connection = connection.map_err(SendError::from_connecting)?;
        Ok(Self {
            greeting: GREETING,
            ..Self::new(connection)
        })
    }
}

/// Sends a command, and reads the reply.
async fn ask(connection: &mut Connection, command: impl Display) -> io::Result<String> {
    connection.write_all(command.to_string().as_bytes()).await?;
    reply(connection).await
}

/// Reads a reply to the end of its last line.
async fn reply(connection: &mut Connection) -> io::Result<String> {
    let mut reply = String::new();
    let mut start = 0;
    while reply.len() < MAX_REPLY {
        let byte = connection.read_u8().await?;
        reply.push(if byte.is_ascii() {
            char::from(byte)
        } else {
            '?'
        });
        if byte == b'\n' {
            if reply.as_bytes().get(start + 3) != Some(&b'-') {
                return Ok(reply);
            }
            start = reply.len();
        }
    }
    Err(io::Error::from(io::ErrorKind::InvalidData))
}

impl AsyncRead for SmtpStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.greeting.is_empty() {
            let before = buffer.filled().len();
            ready!(Pin::new(&mut self.connection).poll_read(cx, buffer))?;
            self.unanswered += buffer.filled().len() - before;
            // lettre keeps a reply in memory until its end.
            if self.unanswered > MAX_REPLY {
                return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
            }
            return Poll::Ready(Ok(()));
        }
        let (now, later) = self
            .greeting
            .split_at(self.greeting.len().min(buffer.remaining()));
        buffer.put_slice(now);
        self.greeting = later;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for SmtpStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.unanswered = 0;
        Pin::new(&mut self.connection).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(cx)
    }
}

impl AsyncTokioStream for SmtpStream {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.connection.peer)
    }
}

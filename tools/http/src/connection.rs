//! [`Connection`]: a connection for another protocol than HTTP.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_util::either::Either;
use tools::{Access, ToolContext};
use url::Url;

use crate::address::literal;
use crate::bounds::Bounds;
use crate::error::HttpError;
use crate::exchange::Exchange;
use crate::location;
use crate::slots::Slot;

/// A connection for another protocol than HTTP, such as SMTP, from [`HttpClient::connect`](crate::HttpClient::connect). It counts as a
/// concurrent request until it is dropped.
pub struct Connection {
    stream: Either<TcpStream, Box<TlsStream<TcpStream>>>,
    /// The address of the server.
    pub peer: SocketAddr,
    url: Url,
    exchange: Arc<Exchange>,
    bounds: Bounds,
    _slot: Slot,
}

impl Connection {
    pub(crate) async fn open(
        cx: &ToolContext,
        exchange: &Arc<Exchange>,
        host: &str,
        port: u16,
    ) -> Result<Self, HttpError> {
        let url = location::parse(&format!("http://{host}:{port}"))?;
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            let reason = "its host has a path; write the host alone".to_owned();
            return Err(HttpError::url(&url, reason));
        }
        cx.require(Access::Write, "net", &location::net_host(&url))
            .map_err(|error| HttpError::refused(&url, error))?;
        let bounds = Bounds::new(cx, &url, exchange.limits.total);
        let dialled = bounds.run(async {
            let slot = exchange.slots.acquire(&url).await;
            Ok((exchange.dial(&url).await?, slot))
        });
        let (stream, slot) = dialled.await?;
        let peer = stream.peer_addr().map_err(|error| broken(&url, &error))?;
        // Commands are small and wait for their replies.
        let _ = stream.set_nodelay(true);
        Ok(Self {
            stream: Either::Left(stream),
            peer,
            url,
            exchange: exchange.clone(),
            bounds,
            _slot: slot,
        })
    }

    /// Encrypts the connection. The certificate of the server has to be for the host, and from an authority that requests trust.
    ///
    /// # Errors
    /// Returns [`HttpError::Tls`] if the server is not trusted or does not speak TLS, and [`HttpError::Broken`] if the connection ends.
    pub async fn encrypt(self) -> Result<Self, HttpError> {
        let plain = match self.stream {
            Either::Left(plain) => plain,
            stream => return Ok(Self { stream, ..self }),
        };
        let url = &self.url;
        let loading = self.exchange.clone();
        let failed = |reason: String| HttpError::tls(url, reason);
        // A URL has an IPv6 address in brackets, which `ServerName` does not read.
        let name = match literal(url) {
            Some(address) => ServerName::from(address),
            None => ServerName::try_from(url.host_str().unwrap_or_default().to_owned())
                .map_err(|error| failed(error.to_string()))?,
        };
        let handshake = self.bounds.run(async {
            // Reads the certificates of the system.
            let connector = tokio::task::spawn_blocking(move || loading.connector()).await;
            let connector = connector
                .map_err(|error| failed(error.to_string()))?
                .map_err(failed)?;
            connector.connect(name, plain).await.map_err(|error| {
                let inner = error.get_ref();
                if inner.is_some_and(|inner| inner.is::<rustls::Error>()) {
                    failed(error.to_string())
                } else {
                    broken(url, &error)
                }
            })
        });
        let stream = Either::Right(Box::new(handshake.await?));
        Ok(Self { stream, ..self })
    }

    /// Returns true if the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        matches!(self.stream, Either::Right(_))
    }
}

fn broken(url: &Url, error: &io::Error) -> HttpError {
    HttpError::broken(url, error.to_string())
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

tools::debug_fields!(self: Connection { host = location::net_host(&self.url), is_encrypted = self.is_encrypted() });

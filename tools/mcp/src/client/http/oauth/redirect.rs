//! [`Redirect`]: receives the answer of the person's browser.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tools_http::Url;

/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 16 * 1024;

/// The time for a request.
const PATIENCE: Duration = Duration::from_secs(5);

/// Receives the answer of the person's browser, on a loopback port.
pub(super) struct Redirect {
    listener: TcpListener,
    pub(super) url: String,
}

impl Redirect {
    /// Listens at a port of this machine. Port 0 is any.
    pub(super) async fn listen(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let url = format!("http://{}/callback", listener.local_addr()?);
        Ok(Self { listener, url })
    }

    /// Waits for a request with this state, and returns its URL. Other programs of this machine may make others.
    pub(super) async fn answer(&self, state: &str) -> io::Result<String> {
        loop {
            let (mut stream, _) = self.listener.accept().await?;
            let head = timeout(PATIENCE, head(&mut stream)).await.ok().flatten();
            let url = head.and_then(|head| self.url_of(&head)).filter(|url| {
                url.path() == "/callback"
                    && url
                        .query_pairs()
                        .any(|(name, value)| name == "state" && value == state)
            });
            let (status, text) = match url {
                Some(_) => (
                    "200 OK",
                    "You can close this window and return to the program.",
                ),
                None => ("404 Not Found", "There is nothing here."),
            };
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
                text.len()
            );
            // The browser may be gone.
            let _ = timeout(PATIENCE, stream.write_all(answer.as_bytes())).await;
            if let Some(url) = url {
                return Ok(url.into());
            }
        }
    }

    fn url_of(&self, head: &str) -> Option<Url> {
        let path = head
            .strip_prefix("GET ")?
            .split(' ')
            .next()
            .filter(|path| path.starts_with('/'))?;
        let origin = self.url.strip_suffix("/callback")?;
        Url::parse(&format!("{origin}{path}")).ok()
    }
}

/// Reads the head of a request. Returns `None` if there is none.
async fn head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut bytes = [0; 1024];
        let count = stream
            .read(&mut bytes)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        head.extend_from_slice(&bytes[..count]);
        if head.len() > MAX_HEAD {
            return None;
        }
    }
    String::from_utf8(head).ok()
}

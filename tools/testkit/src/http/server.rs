//! [`TestServer`]: a loopback HTTP server that answers with raw bytes.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;
use tools::IgnorePoison as _;

use super::TestAuthority;

/// A loopback HTTP/1.1 server. Each connection serves one request. Dropping the server stops it.
///
/// ```
/// use tools::{Grant, Host};
/// use tools_testkit::http::{TestAuthority, TestResolver, TestServer};
/// use tools_http::{HttpClient, HttpOptions, Request};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let authority = TestAuthority::new();
/// let server = TestServer::start_tls(&authority, &["example.org"], |_| TestServer::ok("text/plain", "hello")).await;
/// let resolver = TestResolver::new().with_name("example.org", server.address());
/// let options = HttpOptions {
///     private_hosts: vec!["example.org".into()],
///     root_certificates: vec![authority.pem().into()],
///     resolver: Some(std::sync::Arc::new(resolver)),
///     ..HttpOptions::default()
/// };
/// let cx = Host::new().with_grant(Grant::parse(["net:read:example.org"])?);
/// let client = HttpClient::from_options(options)?;
/// let response = client.send(&cx, Request::get("https://example.org/a")?).await?;
/// assert_eq!(&response.body[..], b"hello");
/// assert_eq!(server.received()[0].path(), "/a");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TestServer {
    address: SocketAddr,
    log: Arc<Log>,
    task: JoinHandle<()>,
}

/// A connection to a client, which a handler writes to.
pub type TestStream = Box<dyn Stream>;

/// A stream of bytes in both directions.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

type Handler =
    Arc<dyn Fn(Received, TestStream) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

#[derive(Default)]
struct Log {
    connections: AtomicUsize,
    received: Mutex<Vec<Received>>,
}

/// A request as the server received it.
#[derive(Clone, Debug)]
pub struct Received {
    /// The head: request line and headers, as text.
    pub head: String,
    /// The body.
    pub body: Vec<u8>,
}

impl Received {
    /// Returns the path and query of the request line.
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// Returns the value of a header. Returns `None` if the request has none of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let headers = self
            .head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(':'));
        headers
            .into_iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
    }
}

impl TestServer {
    /// Starts a server that answers each request with the raw bytes of a response.
    ///
    /// # Panics
    /// Panics if no loopback port can be opened, or outside of a runtime.
    pub async fn start(answer: impl Fn(&Received) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::listen("127.0.0.1:0", None, answering(answer)).await
    }

    /// Starts a server that speaks TLS. Its certificate is for these names.
    ///
    /// # Panics
    /// As [`start`](Self::start), and if a name is invalid.
    pub async fn start_tls(
        authority: &TestAuthority,
        names: &[&str],
        answer: impl Fn(&Received) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let acceptor = TlsAcceptor::from(authority.server_config(names, &["http/1.1"]));
        Self::listen("127.0.0.1:0", Some(acceptor), answering(answer)).await
    }

    /// Starts a server whose handler writes to the connection, such as slowly or without end. The connection ends when the handler
    /// drops the stream.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    pub async fn start_streaming<F>(
        handler: impl Fn(Received, TestStream) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self::listen(
            "127.0.0.1:0",
            None,
            Arc::new(move |request, stream| Box::pin(handler(request, stream))),
        )
        .await
    }

    /// Starts a server on another address than `127.0.0.1`, such as `[::1]:0`.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    pub async fn start_at(
        address: &str,
        answer: impl Fn(&Received) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        Self::listen(address, None, answering(answer)).await
    }

    async fn listen(address: &str, acceptor: Option<TlsAcceptor>, handler: Handler) -> Self {
        let listener = TcpListener::bind(address)
            .await
            .expect("a loopback port can be opened");
        let address = listener.local_addr().expect("a listener has an address");
        let log = Arc::new(Log::default());
        let shared = log.clone();
        let task = tokio::spawn(async move {
            // Dropping the set ends the connections.
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let (handler, log, acceptor) = (handler.clone(), shared.clone(), acceptor.clone());
                connections.spawn(async move {
                    let mut stream: TestStream = match acceptor {
                        None => Box::new(stream),
                        Some(acceptor) => match acceptor.accept(stream).await {
                            Ok(stream) => Box::new(stream),
                            Err(_) => return,
                        },
                    };
                    let Some(request) = read(&mut stream).await else {
                        return;
                    };
                    log.received.lock().ignore_poison().push(request.clone());
                    handler(request, stream).await;
                });
            }
        });
        Self { address, log, task }
    }

    /// Returns a response with status 200 and a content type.
    pub fn ok(content_type: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
        let body = body.as_ref();
        let length = body.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        );
        [head.as_bytes(), body].concat()
    }

    /// Returns a response without a body, such as `302 Found` with the header `location: /`.
    pub fn head(status: &str, headers: &[(&str, &str)]) -> Vec<u8> {
        let headers: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        format!("HTTP/1.1 {status}\r\n{headers}content-length: 0\r\nconnection: close\r\n\r\n")
            .into_bytes()
    }

    /// Returns the address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns `http://127.0.0.1:PORT` followed by a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the requests so far.
    pub fn received(&self) -> Vec<Received> {
        self.log.received.lock().ignore_poison().clone()
    }

    /// Returns the number of connections so far.
    pub fn connections(&self) -> usize {
        self.log.connections.load(Ordering::SeqCst)
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn answering(answer: impl Fn(&Received) -> Vec<u8> + Send + Sync + 'static) -> Handler {
    Arc::new(move |request, mut stream| {
        let bytes = answer(&request);
        Box::pin(async move {
            // The client may be gone, which its own test notices.
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
        })
    })
}

async fn read(stream: &mut TestStream) -> Option<Received> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 8192]);
    loop {
        let count = stream
            .read(&mut piece)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut request = Received {
            head,
            body: bytes[end + 4..].to_vec(),
        };
        let length: usize = request
            .header("content-length")
            .and_then(|value| value.parse().ok())
            .unwrap_or(0);
        while request.body.len() < length {
            let count = stream
                .read(&mut piece)
                .await
                .ok()
                .filter(|count| *count > 0)?;
            request.body.extend_from_slice(&piece[..count]);
        }
        return Some(request);
    }
}

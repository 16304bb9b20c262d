//! [`TestServer`]: a loopback HTTP server that answers with raw bytes.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A loopback HTTP/1.1 server. Each connection serves one request. Dropping the server stops it.
pub struct TestServer {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    task: JoinHandle<()>,
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
}

impl TestServer {
    /// Starts a server that answers each request with the raw bytes of a response.
    ///
    /// # Panics
    /// Panics if no loopback port can be opened, or outside of a runtime.
    pub async fn start(answer: impl Fn(&Received) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port can be opened");
        let address = listener.local_addr().expect("a listener has an address");
        let received = Arc::new(Mutex::new(Vec::new()));
        let (answer, seen) = (Arc::new(answer), received.clone());
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (answer, seen) = (answer.clone(), seen.clone());
                tokio::spawn(async move {
                    let Some(request) = read(&mut stream).await else { return };
                    let bytes = answer(&request);
                    seen.lock().unwrap_or_else(PoisonError::into_inner).push(request);
                    let _ = stream.write_all(&bytes).await;
                    let _ = stream.shutdown().await;
                });
            }
        });
        Self { address, received, task }
    }

    /// Returns a response with status 200 and a content type.
    pub fn ok(content_type: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
        let body = body.as_ref();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
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
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read(stream: &mut tokio::net::TcpStream) -> Option<Received> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 8192]);
    loop {
        let count = stream.read(&mut piece).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length: usize = length.and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(0);
        let mut body = bytes[end + 4..].to_vec();
        while body.len() < length {
            let count = stream.read(&mut piece).await.ok().filter(|count| *count > 0)?;
            body.extend_from_slice(&piece[..count]);
        }
        return Some(Received { head, body });
    }
}

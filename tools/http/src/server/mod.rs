//! A server for requests from outside, such as the webhooks of a service.

mod accept;
mod body;
mod head;
mod host;
mod places;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONNECTION;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tools::CancellationToken;

use self::host::AllowedHosts;

pub use self::accept::accept;
pub use self::body::read_body;
pub use self::head::{check_names, check_port, single_header};
pub use self::host::{LOOPBACK, host_names};
pub use self::places::Place;

/// The time that open requests get after a shutdown began.
const GRACE: Duration = Duration::from_secs(2);

/// The options of a [`Server`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerOptions {
    /// The names, with or without a port, that requests may have as `Host`, in addition to those of this machine.
    pub hosts: Vec<String>,
    /// The maximum number of connections at the same time. Further ones take the place of those without a whole request, or wait.
    pub max_connections: usize,
    /// The maximum size of the body of a request, in bytes.
    pub max_body_bytes: usize,
    /// The time for the head of a request, and then for its body. A connection without a request ends after it.
    pub read_timeout: Duration,
    /// The time for the client to take the answer.
    pub write_timeout: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            max_connections: 64,
            max_body_bytes: 256 * 1024,
            read_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(10),
        }
    }
}

/// A request from outside.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerRequest {
    /// The method.
    pub method: Method,
    /// The path, without a query.
    pub path: String,
    /// The query, without `?`.
    pub query: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// An answer to a request from outside.
#[derive(Clone, Debug)]
pub struct ServerAnswer {
    /// The status.
    pub status: StatusCode,
    /// The body: plain text.
    pub body: Bytes,
}

impl ServerAnswer {
    /// Creates an answer.
    pub fn new(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            body: body.into(),
        }
    }

    fn forbidden(reason: impl Into<Bytes>) -> Self {
        Self::new(StatusCode::FORBIDDEN, reason)
    }
}

/// A server for HTTP/1.1 requests from outside, without encryption.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    options: ServerOptions,
    hosts: AllowedHosts,
}

impl Server {
    /// Listens on an address.
    ///
    /// # Errors
    /// Returns an error if the system refuses the address.
    pub async fn bind(address: SocketAddr, options: ServerOptions) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let hosts = AllowedHosts::new(address, &options.hosts);
        Ok(Self {
            listener,
            address,
            options,
            hosts,
        })
    }

    /// Returns the address, with the port that the system chose.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until the shutdown. Requests that name another host, come from a web page, or have a body that is too long or too
    /// slow are refused before.
    pub async fn serve<F, A>(self, answer: F, shutdown: CancellationToken)
    where
        F: Fn(ServerRequest) -> A + Send + Sync + 'static,
        A: Future<Output = ServerAnswer> + Send + 'static,
    {
        let max_connections = self.options.max_connections;
        let shared = Arc::new((answer, self.options, self.hosts));
        let served = accept(
            self.listener,
            max_connections,
            shutdown.clone(),
            |stream, place| {
                let shared = shared.clone();
                let shutdown = shutdown.clone();
                async move {
                    // An error means that the client went away.
                    let _ = connection(stream, place, shared, shutdown).await;
                }
            },
        );
        let overdue = async {
            shutdown.cancelled().await;
            sleep(GRACE).await;
        };
        tokio::select! {
            () = served => {}
            () = overdue => {}
        }
    }
}

async fn connection<F, A>(
    stream: TcpStream,
    place: Place,
    shared: Arc<(F, ServerOptions, AllowedHosts)>,
    shutdown: CancellationToken,
) -> hyper::Result<()>
where
    F: Fn(ServerRequest) -> A,
    A: Future<Output = ServerAnswer>,
{
    let mut http = Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(shared.1.read_timeout)
        .keep_alive(false);
    let answered = CancellationToken::new();
    let service = service_fn(|request| {
        let (answer, options, hosts) = &*shared;
        let answered = &answered;
        let place = &place;
        async move {
            let answer = match read(request, options, hosts).await {
                Ok(request) => {
                    place.keep();
                    Ok(answer(request).await)
                }
                Err(refused) => Err(refused),
            };
            answered.cancel();
            Ok::<_, Infallible>(response(answer))
        }
    });
    let mut connection = std::pin::pin!(http.serve_connection(TokioIo::new(stream), service));
    let ended = async {
        tokio::select! {
            ended = connection.as_mut() => return ended,
            () = shutdown.cancelled() => connection.as_mut().graceful_shutdown(),
        }
        connection.await
    };
    // A client that does not take its answer must not keep its place.
    let overdue = async {
        answered.cancelled().await;
        sleep(shared.1.write_timeout).await;
    };
    tokio::select! {
        ended = ended => ended,
        () = overdue => Ok(()),
    }
}

/// Reads a request, or returns the answer of a refusal.
async fn read(
    request: Request<Incoming>,
    options: &ServerOptions,
    hosts: &AllowedHosts,
) -> Result<ServerRequest, ServerAnswer> {
    let (head, body) = request.into_parts();
    hosts.check(&head.uri, &head.headers)?;
    let body = read_body(body, options.max_body_bytes, options.read_timeout).await?;
    Ok(ServerRequest {
        method: head.method,
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers: head.headers,
        body,
    })
}

/// Returns the response of an answer. After a refusal, whose body may not be read, the connection ends.
fn response(answered: Result<ServerAnswer, ServerAnswer>) -> Response<Full<Bytes>> {
    let is_refused = answered.is_err();
    let (Ok(answer) | Err(answer)) = answered;
    let mut response = Response::new(Full::new(answer.body));
    *response.status_mut() = answer.status;
    if is_refused {
        response
            .headers_mut()
            .insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

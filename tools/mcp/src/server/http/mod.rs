//! Serves many clients over streamable HTTP.

mod endpoint;
mod first_write;
mod options;
mod sessions;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::StreamableHttpService;
use tokio::net::{TcpListener, TcpStream};
use tools::CancellationToken;
use tools_http::server::{Place, accept};

use crate::server::ToolServer;
use crate::server::handler::Calls;
use crate::server::http::endpoint::Endpoint;
use crate::server::http::sessions::Sessions;
use crate::server::running::CANCEL_GRACE;

pub use self::options::{HttpError, HttpOptions};

/// The longest time for the head of a request, and of a connection without one.
const MAX_HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The time that an answer gets to leave after the last call has ended.
const FLUSH: Duration = Duration::from_millis(250);

impl ToolServer {
    /// Serves clients over streamable HTTP at the path [`HttpOptions::PATH`] until `shutdown` is cancelled. `/healthz` answers `ok`.
    ///
    /// From 2026-07-28 on, a client that drops the connection cancels its call. A client of an older revision may come back for the
    /// answer, so only its notification or the end of its session cancels.
    /// Only the shutdown does that with tasks, which are unknown at other listeners.
    ///
    /// # Errors
    /// Returns [`HttpError::TokenRequired`] if other machines can reach the listener and there is no token.
    pub async fn serve_http(
        &self,
        listener: TcpListener,
        options: &HttpOptions,
        shutdown: CancellationToken,
    ) -> Result<(), HttpError> {
        let address = listener.local_addr()?;
        options.check_address(address)?;
        let ended = CancellationToken::new();
        // However the server ends, the sessions of its clients do too.
        let _ended = ended.clone().drop_guard();
        let server = self.clone();
        let sessions = Arc::new(Sessions::default());
        let max_bytes = self.options.limits.max_message_bytes;
        let config = options.config(address, max_bytes, ended.clone());
        let calls = Calls::new(self.options.limits);
        let work = calls.clone();
        let endpoint = Endpoint {
            mcp: StreamableHttpService::new(
                move || Ok(server.handler(work.clone(), true)),
                sessions.clone(),
                config,
            ),
            sessions,
            token: options.token.clone(),
            max_bytes,
            port: address.port(),
            hosts: options.hosts.clone(),
            head_timeout: options.read_timeout.min(MAX_HEAD_TIMEOUT),
            read_timeout: options.read_timeout,
        };
        let grace = options.shutdown_grace;
        let graceful = drain(shutdown.clone(), calls.clone(), grace, ended);
        tokio::select! {
            () = serve(listener, endpoint, options.max_connections, shutdown) => {}
            // Connections that do not end are dropped.
            () = graceful => {}
        }
        calls.end().await;
        Ok(())
    }
}

/// Waits for the shutdown and then for the running calls, ends the sessions, and waits for the connections.
async fn drain(
    shutdown: CancellationToken,
    calls: Calls,
    grace: Duration,
    ended: CancellationToken,
) {
    shutdown.cancelled().await;
    calls.cancel_unattended();
    calls.running.close();
    let _ = tokio::time::timeout(grace, calls.running.wait()).await;
    tokio::time::sleep(FLUSH).await;
    ended.cancel();
    tokio::time::sleep(CANCEL_GRACE).await;
}

/// Serves connections until the shutdown, and then until the last one has ended. Dropping the future drops them.
async fn serve(
    listener: TcpListener,
    endpoint: Endpoint,
    connections: usize,
    shutdown: CancellationToken,
) {
    let endpoint = Arc::new(endpoint);
    accept(listener, connections, shutdown.clone(), |stream, place| {
        let endpoint = endpoint.clone();
        let shutdown = shutdown.clone();
        async move {
            if let Err(error) = connection(stream, place, endpoint, shutdown).await {
                tracing::debug!("a connection failed: {error}");
            }
        }
    })
    .await;
}

async fn connection(
    stream: TcpStream,
    place: Place,
    endpoint: Arc<Endpoint>,
    shutdown: CancellationToken,
) -> hyper::Result<()> {
    // Answers are small and leave at once.
    let _ = stream.set_nodelay(true);
    let mut http = Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(endpoint.head_timeout);
    // `hyper` moves the future of a request several times, so it is small.
    let service = service_fn(|request| {
        Box::pin(async { Ok::<_, Infallible>(endpoint.answer(request, &place).await) })
    });
    let mut connection = std::pin::pin!(http.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        ended = connection.as_mut() => return ended,
        () = shutdown.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    connection.await
}

//! Connections of clients, and the time for the head of a request.

use std::convert::Infallible;
use std::sync::Arc;

use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tools::CancellationToken;
use tools_http::server::{Place, accept};

use crate::server::http::endpoint::Endpoint;

/// Serves connections until the shutdown, and then until the last one has ended. Dropping the future drops them.
pub(super) async fn serve(
    listener: TcpListener,
    endpoint: Endpoint,
    connections: usize,
    shutdown: CancellationToken,
) {
    let endpoint = Arc::new(endpoint);
    accept(listener, connections, shutdown.clone(), |stream, place| {
        let (endpoint, shutdown) = (endpoint.clone(), shutdown.clone());
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

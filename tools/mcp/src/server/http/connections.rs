//! Connections of clients: their number, and the time for the head of a request.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tools::CancellationToken;

use super::endpoint::Endpoint;

/// The pause before the next connection is accepted while the system has no more files for one.
const PAUSE: Duration = Duration::from_millis(500);

/// Serves connections until the shutdown, and then until the last one has ended. Dropping the future drops them.
///
/// Connections beyond the limit wait in the system's queue.
pub(super) async fn serve(listener: TcpListener, endpoint: Endpoint, connections: usize, shutdown: CancellationToken) {
    let (endpoint, permits) = (Arc::new(endpoint), Arc::new(Semaphore::new(connections)));
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            (stream, permit) = accept(&listener, &permits) => {
                let (endpoint, shutdown) = (endpoint.clone(), shutdown.clone());
                open.spawn(async move {
                    if let Err(error) = connection(stream, endpoint, shutdown).await {
                        tracing::debug!("a connection failed: {error}");
                    }
                    drop(permit);
                });
            }
            Some(_) = open.join_next() => {}
            () = shutdown.cancelled() => break,
        }
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}

async fn accept(listener: &TcpListener, permits: &Arc<Semaphore>) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    let permit = permits.clone().acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, permit),
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                tracing::warn!("no connection can be accepted: {error}");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn connection(stream: TcpStream, endpoint: Arc<Endpoint>, shutdown: CancellationToken) -> hyper::Result<()> {
    // Answers are small and leave at once.
    let _ = stream.set_nodelay(true);
    let mut http = Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(endpoint.read_timeout);
    // `hyper` moves the future of a request several times, so it is small.
    let service = service_fn(|request| Box::pin(async { Ok::<_, Infallible>(endpoint.answer(request).await) }));
    let mut connection = std::pin::pin!(http.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        ended = connection.as_mut() => return ended,
        () = shutdown.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    connection.await
}

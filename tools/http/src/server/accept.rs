//! [`accept`]: the connections of a server, and their number.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tools::CancellationToken;

/// The pause before the next connection is accepted while the system has no more files for one.
const PAUSE: Duration = Duration::from_millis(500);

/// Serves each connection of a listener until the shutdown, and then until the last one has ended. Dropping the future drops them.
///
/// Connections beyond the limit wait in the system's queue.
pub async fn accept<C>(
    listener: TcpListener,
    max_connections: usize,
    shutdown: CancellationToken,
    connection: impl Fn(TcpStream) -> C,
) where
    C: Future<Output = ()> + Send + 'static,
{
    let permits = Arc::new(Semaphore::new(max_connections.clamp(1, Semaphore::MAX_PERMITS)));
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            (stream, permit) = next(&listener, &permits) => {
                let served = connection(stream);
                open.spawn(async move {
                    served.await;
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

async fn next(listener: &TcpListener, permits: &Arc<Semaphore>) -> (TcpStream, Option<OwnedSemaphorePermit>) {
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

//! [`accept`]: the connections of a server, and their number.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tools::CancellationToken;

use super::places::{Place, Places};

/// The pause before the next connection is accepted while the system has no more files for one.
const PAUSE: Duration = Duration::from_millis(500);

/// Serves each connection of a listener until the shutdown, and then until the last one has ended. Dropping the future drops them.
///
/// A further connection than the maximum takes the place of the oldest one without a request that was [kept](Place::keep), among those of
/// the client with most of them. If all are kept, it waits in the system's queue. Clients at other machines have at most half of the
/// places each.
pub async fn accept<C>(
    listener: TcpListener,
    max_connections: usize,
    shutdown: CancellationToken,
    connection: impl Fn(TcpStream, Place) -> C,
) where
    C: Future<Output = ()> + Send + 'static,
{
    let places = Places::new(max_connections.max(1));
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            (stream, client) = next(&listener, &places) => {
                let Some(place) = places.take(client) else { continue };
                let ended = place.ended();
                let served = connection(stream, place.clone());
                open.spawn(async move {
                    // A place that another connection took ends this one.
                    let _ = ended.run_until_cancelled(served).await;
                    drop(place);
                });
            }
            Some(_) = open.join_next() => {}
            () = shutdown.cancelled() => break,
        }
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}

async fn next(listener: &TcpListener, places: &Places) -> (TcpStream, SocketAddr) {
    places.wait_for_room().await;
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                tracing::warn!("no connection can be accepted: {error}");
                // One of them may be idle.
                places.make_room();
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

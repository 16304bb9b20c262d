//! [`accept`]: the connections of a server, and their number.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tools::CancellationToken;

use super::places::{NoPlace, Place, Places};

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
    let mut waiting = None;
    loop {
        tokio::select! {
            accepted = next(&listener, &places), if waiting.is_none() => waiting = Some(accepted),
            () = places.wait_for_room(), if waiting.is_some() => {}
            Some(_) = open.join_next() => {}
            () = shutdown.cancelled() => break,
        }
        let Some((stream, client)) = waiting.take() else {
            continue;
        };
        match places.take(client) {
            Ok(place) => {
                let ended = place.end_token();
                let served = connection(stream, place.clone());
                open.spawn(async move {
                    // A place that another connection took ends this one.
                    let _ = ended.run_until_cancelled(served).await;
                    drop(place);
                });
            }
            Err(NoPlace::Full) => waiting = Some((stream, client)),
            // Not kept waiting, because no other connection is accepted while one waits.
            Err(NoPlace::TooMany) => {}
        }
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}

async fn next(listener: &TcpListener, places: &Places) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            // The client went away while it waited in the queue of the system.
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

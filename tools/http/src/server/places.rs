//! [`Places`]: the places of a server for connections.
//!
//! ```text
//! right: if !has_token(&request) { return refused; } place.keep();
//! wrong: place.keep(); if !has_token(&request) { return refused; }
//! ```
//!
//! By the wrong one, clients without the token keep all places, and no other connection can take one away.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;
use tools::{CancellationToken, IgnorePoison as _};

/// The places of a server.
#[derive(Clone)]
pub(super) struct Places(Arc<Shared>);

struct Shared {
    max: usize,
    /// Notified when a place is free or can be taken away.
    changed: Notify,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    next: u64,
    /// By age.
    taken: BTreeMap<u64, Taken>,
}

struct Taken {
    client: IpAddr,
    is_kept: bool,
    ended: CancellationToken,
}

/// The reason why a connection gets no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoPlace {
    /// All are kept.
    Full,
    /// The client keeps as many as it may have.
    TooMany,
}

/// The place of a connection, which is free again when the last clone is dropped.
#[derive(Clone)]
pub struct Place(Arc<OwnPlace>);

struct OwnPlace {
    places: Places,
    number: u64,
    ended: CancellationToken,
}

impl Place {
    /// Keeps the place for this connection until it ends. Call it once a request was found to be allowed: until then, another connection can
    /// take the place.
    pub fn keep(&self) {
        self.set_kept(true);
    }

    /// Lets another connection take the place from now on.
    pub fn release(&self) {
        self.set_kept(false);
        self.0.places.0.changed.notify_one();
    }

    fn set_kept(&self, is_kept: bool) {
        if let Some(taken) = self.0.places.lock().taken.get_mut(&self.0.number) {
            taken.is_kept = is_kept;
        }
    }

    /// Returns the token that is cancelled when another connection takes the place.
    pub(super) fn end_token(&self) -> CancellationToken {
        self.0.ended.clone()
    }
}

impl Drop for OwnPlace {
    fn drop(&mut self) {
        self.places.lock().taken.remove(&self.number);
        self.places.0.changed.notify_one();
    }
}

impl Places {
    pub(super) fn new(max: usize) -> Self {
        Self(Arc::new(Shared {
            max,
            changed: Notify::new(),
            table: Mutex::default(),
        }))
    }

    /// Waits until a place is free or can be taken away.
    pub(super) async fn wait_for_room(&self) {
        loop {
            // Before the look at the table, so that a change in between is not missed.
            let changed = self.0.changed.notified();
            {
                let table = self.lock();
                if table.taken.len() < self.0.max
                    || table.taken.values().any(|taken| !taken.is_kept)
                {
                    return;
                }
            }
            changed.await;
        }
    }

    /// Takes a place for a connection of a client.
    ///
    /// # Errors
    /// Returns an error if there is none, or if the client has too many.
    pub(super) fn take(&self, client: SocketAddr) -> Result<Place, NoPlace> {
        // A client with IPv4 has a mapped address at a socket of IPv6, and must not count twice.
        let client = client.ip().to_canonical();
        let mut table = self.lock();
        let of_client = table.taken.values().filter(|taken| taken.client == client);
        // The clients of this machine are many, and have one address.
        let is_over = !client.is_loopback() && of_client.clone().count() >= self.0.max.div_ceil(2);
        if is_over || table.taken.len() >= self.0.max {
            let only = is_over.then_some(client);
            table.end_idle(only).ok_or(if is_over {
                NoPlace::TooMany
            } else {
                NoPlace::Full
            })?;
        }
        let number = table.next;
        let ended = CancellationToken::new();
        table.next += 1;
        let taken = Taken {
            client,
            is_kept: false,
            ended: ended.clone(),
        };
        table.taken.insert(number, taken);
        drop(table);
        Ok(Place(Arc::new(OwnPlace {
            places: self.clone(),
            number,
            ended,
        })))
    }

    /// Ends an idle connection, if there is one.
    pub(super) fn make_room(&self) {
        let _ = self.lock().end_idle(None);
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.table.lock().ignore_poison()
    }
}

impl Table {
    /// Ends the oldest connection that is not kept, of this client or of the one with most of them.
    fn end_idle(&mut self, client: Option<IpAddr>) -> Option<()> {
        let idle = || self.taken.iter().filter(|(_, taken)| !taken.is_kept);
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        idle().for_each(|(_, taken)| *counts.entry(taken.client).or_default() += 1);
        let most = counts.iter().max_by_key(|(_, count)| **count);
        let client = client.or(most.map(|(client, _)| *client))?;
        let (&number, _) = idle().find(|(_, taken)| taken.client == client)?;
        self.taken.remove(&number)?.ended.cancel();
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(host: u8) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, host], 1))
    }

    #[test]
    fn the_oldest_idle_connection_of_the_busiest_client_gives_up_its_place() {
        let places = Places::new(4);
        let first = places.take(at(1)).unwrap();
        let many: Vec<_> = (0..2).map(|_| places.take(at(2)).unwrap()).collect();
        let other = places.take(at(3)).unwrap();
        let next = places.take(at(4)).unwrap();
        assert!(many[0].end_token().is_cancelled());
        for place in [&first, &many[1], &other, &next] {
            assert!(!place.end_token().is_cancelled());
        }
    }

    #[test]
    fn a_kept_place_is_not_taken_away() {
        let places = Places::new(2);
        let kept = places.take(at(1)).unwrap();
        kept.keep();
        let idle = places.take(at(2)).unwrap();
        let next = places.take(at(3)).unwrap();
        assert!(idle.end_token().is_cancelled() && !kept.end_token().is_cancelled());
        next.keep();
        assert_eq!(places.take(at(4)).err(), Some(NoPlace::Full));
        drop(kept);
        assert!(places.take(at(4)).is_ok());
    }

    #[test]
    fn a_client_at_another_machine_has_at_most_half_of_the_places() {
        let places = Places::new(4);
        let kept: Vec<_> = (0..2).map(|_| places.take(at(1)).unwrap()).collect();
        kept.iter().for_each(Place::keep);
        assert_eq!(places.take(at(1)).err(), Some(NoPlace::TooMany));
        assert!(places.take(at(2)).is_ok());
        let own = Places::new(4);
        let loopback = SocketAddr::from(([127, 0, 0, 1], 1));
        let all: Vec<_> = (0..4).map(|_| own.take(loopback).unwrap()).collect();
        assert!(all.iter().all(|place| !place.end_token().is_cancelled()));
    }

    #[test]
    fn a_client_with_its_share_of_the_places_takes_none_of_others() {
        let places = Places::new(4);
        let others: Vec<_> = (0..2).map(|_| places.take(at(2)).unwrap()).collect();
        let kept = places.take(at(1)).unwrap();
        kept.keep();
        let idle = places.take(at(1)).unwrap();
        // The same client by another spelling of its address.
        let mapped = SocketAddr::new("::ffff:192.0.2.1".parse().unwrap(), 2);
        let next = places.take(mapped).unwrap();
        assert!(
            idle.end_token().is_cancelled()
                && !kept.end_token().is_cancelled()
                && !next.end_token().is_cancelled()
        );
        assert!(others.iter().all(|place| !place.end_token().is_cancelled()));
    }

    #[tokio::test]
    async fn a_wait_for_room_ends_when_a_place_is_released_or_free() {
        use std::time::Duration;
        use tokio::time::timeout;

        let places = Places::new(1);
        let is_room = async || {
            timeout(Duration::from_millis(20), places.wait_for_room())
                .await
                .is_ok()
        };
        assert!(is_room().await);
        let place = places.take(at(1)).unwrap();
        assert!(is_room().await, "it is idle");
        place.keep();
        assert!(!is_room().await);
        let room = timeout(Duration::from_secs(5), places.wait_for_room());
        let (room, ()) = tokio::join!(room, async { place.release() });
        assert!(room.is_ok());
        place.keep();
        let room = timeout(Duration::from_secs(5), places.wait_for_room());
        let (room, ()) = tokio::join!(room, async { drop(place) });
        assert!(room.is_ok() && is_room().await);
    }
}

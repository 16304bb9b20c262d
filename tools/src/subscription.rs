//! Being woken when a catalog changes.

use crate::sync::watch;

/// A subscription to a catalog's generation: a number that grows with every change.
#[derive(Clone, Debug)]
pub struct Subscription(watch::Receiver<u64>);

impl Subscription {
    /// The newest generation that was published.
    pub fn generation(&self) -> u64 {
        *self.0.borrow()
    }

    /// Waits for a change that this subscription has not seen yet, and gives its generation. Several changes in a row
    /// may be seen as one. `None` once the catalog is gone.
    pub async fn changed(&mut self) -> Option<u64> {
        self.0.changed().await.ok().map(|()| *self.0.borrow_and_update())
    }
}

/// The sending side.
#[derive(Clone, Debug)]
pub(crate) struct Publisher(watch::Sender<u64>);

impl Publisher {
    pub(crate) fn new(generation: u64) -> Self {
        Self(watch::Sender::new(generation))
    }

    pub(crate) fn subscribe(&self) -> Subscription {
        Subscription(self.0.subscribe())
    }

    /// Wakes the watchers, unless a newer generation has been published meanwhile: publishing happens outside the
    /// catalog's lock, so two writers can arrive here in either order.
    pub(crate) fn publish(&self, generation: u64) {
        self.0.send_if_modified(|published| {
            let newer = generation > *published;
            if newer {
                *published = generation;
            }
            newer
        });
    }
}

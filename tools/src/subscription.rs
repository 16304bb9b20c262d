//! [`Subscription`]: notifications of changes to a catalog.

use crate::sync::watch;

/// A subscription to changes of a catalog. Each change increases the catalog's generation.
#[derive(Clone, Debug)]
pub struct Subscription(watch::Receiver<u64>);

impl Subscription {
    /// Returns the latest published generation.
    pub fn generation(&self) -> u64 {
        *self.0.borrow()
    }

    /// Waits for a change that this subscription has not seen and returns the new generation.
    ///
    /// Several changes may be reported as one. Returns `None` if the catalog was dropped.
    pub async fn changed(&mut self) -> Option<u64> {
        self.0
            .changed()
            .await
            .ok()
            .map(|()| *self.0.borrow_and_update())
    }
}

/// Publishes the generation of a catalog.
#[derive(Clone, Debug)]
pub(crate) struct Publisher(watch::Sender<u64>);

impl Publisher {
    pub(crate) fn new(generation: u64) -> Self {
        Self(watch::Sender::new(generation))
    }

    pub(crate) fn subscribe(&self) -> Subscription {
        Subscription(self.0.subscribe())
    }

    /// Wakes the subscribers, unless a newer generation is published already: two writers can arrive here in either order, because they
    /// publish outside of the catalog's lock.
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

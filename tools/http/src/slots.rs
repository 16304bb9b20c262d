//! [`Slots`]: limits concurrent requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tools::IgnorePoison as _;
use url::Url;

use crate::limits::HttpLimits;

/// Limits concurrent requests, per host and in all. A client and its siblings share it.
#[derive(Debug)]
pub(crate) struct Slots {
    all: Arc<Semaphore>,
    per_host: usize,
    /// The hosts with requests.
    hosts: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// The permission for one request, until it is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    _permits: (OwnedSemaphorePermit, OwnedSemaphorePermit),
}

impl Slots {
    pub(crate) fn new(limits: &HttpLimits) -> Self {
        // More permits than the semaphore can have are as good as no limit.
        let all = limits.max_connections.min(Semaphore::MAX_PERMITS);
        Self {
            all: Arc::new(Semaphore::new(all)),
            per_host: limits.max_connections_per_host.min(Semaphore::MAX_PERMITS),
            hosts: Mutex::default(),
        }
    }

    /// Waits until a request to the host of this URL may be made. Requests that wait for their host do not block other hosts.
    pub(crate) async fn acquire(&self, url: &Url) -> Slot {
        let host = self.host(&url.origin().ascii_serialization());
        let host = wait_for(host).await;
        Slot {
            _permits: (host, wait_for(self.all.clone()).await),
        }
    }

    fn host(&self, origin: &str) -> Arc<Semaphore> {
        let mut hosts = self.hosts.lock().ignore_poison();
        // A permit, and a request that waits for one, holds its semaphore.
        hosts.retain(|_, semaphore| Arc::strong_count(semaphore) > 1);
        hosts
            .entry(origin.to_owned())
            .or_insert_with(|| Arc::new(Semaphore::new(self.per_host)))
            .clone()
    }
}

async fn wait_for(semaphore: Arc<Semaphore>) -> OwnedSemaphorePermit {
    semaphore
        .acquire_owned()
        .await
        .unwrap_or_else(|_| unreachable!("the semaphores are never closed"))
}

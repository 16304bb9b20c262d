//! [`Lists`]: the lists of a server that are read on demand.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rmcp::model;
use tokio::time::Instant;
use tools::IgnorePoison as _;

use crate::client::listing::Listing;

/// The lists of a server that are read on demand, and kept as long as the server says that they are fresh. A report of a change, or
/// another connection, expires them.
#[derive(Default)]
pub(super) struct Lists {
    pub(super) prompts: Kept<model::Prompt>,
    pub(super) resources: Kept<model::Resource>,
    pub(super) templates: Kept<model::ResourceTemplate>,
}

impl Lists {
    pub(super) fn expire_resources(&self) {
        self.resources.expire();
        self.templates.expire();
    }

    pub(super) fn expire(&self) {
        self.prompts.expire();
        self.expire_resources();
    }
}

/// The latest list of a kind.
pub(super) struct Kept<T> {
    /// The number of expiries.
    version: AtomicU64,
    latest: Mutex<Option<Latest<T>>>,
}

struct Latest<T> {
    version: u64,
    fresh_until: Instant,
    listing: Arc<Listing<T>>,
}

impl<T> Kept<T> {
    /// Returns the latest list if it is fresh, and reads another otherwise.
    pub(super) async fn get_or_read<E>(
        &self,
        read: impl Future<Output = Result<Listing<T>, E>>,
    ) -> Result<Arc<Listing<T>>, E> {
        // A change during the reading may be missing in the list.
        let version = self.version.load(Ordering::SeqCst);
        let latest = || self.latest.lock().ignore_poison();
        if let Some(latest) = &*latest()
            && latest.version == version
            && latest.fresh_until > Instant::now()
        {
            return Ok(latest.listing.clone());
        }
        let listing = Arc::new(read.await?);
        let kept = listing.fresh_until.map(|fresh_until| Latest {
            version,
            fresh_until,
            listing: listing.clone(),
        });
        *latest() = kept;
        Ok(listing)
    }

    pub(super) fn expire(&self) {
        self.version.fetch_add(1, Ordering::SeqCst);
    }
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self {
            version: AtomicU64::new(0),
            latest: Mutex::new(None),
        }
    }
}

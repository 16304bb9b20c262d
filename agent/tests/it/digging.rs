//! A tool whose calls go on until a test permits their end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use tokio::sync::Semaphore;
use tools::{Catalog, ToolContext};

use crate::workshop::tool;

/// Calls of the tool `dig`, each of which takes a permit.
#[derive(Clone)]
pub(crate) struct Digging {
    pub(crate) permits: Arc<Semaphore>,
    /// The number of calls that have begun.
    begun: Arc<AtomicUsize>,
    /// The number of calls that are alive.
    pub(crate) alive: Arc<AtomicUsize>,
}

struct Alive(Arc<AtomicUsize>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Digging {
    pub(crate) fn new(catalog: &mut Catalog) -> Self {
        let digging = Self {
            permits: Arc::new(Semaphore::new(0)),
            begun: Arc::default(),
            alive: Arc::default(),
        };
        let (own, other) = (digging.clone(), digging.permits.clone());
        let dig = move |_: ToolContext, _: Value| {
            let Self {
                permits,
                begun,
                alive,
            } = own.clone();
            async move {
                alive.fetch_add(1, Ordering::SeqCst);
                let _alive = Alive(alive);
                begun.fetch_add(1, Ordering::SeqCst);
                permits.acquire().await.unwrap().forget();
                "dug"
            }
        };
        let limits = tools::protocol::Limits {
            timeout_ms: Some(86_400_000),
            ..Default::default()
        };
        catalog
            .register(tool("dig").with_limits(limits), dig)
            .unwrap();
        let permit = move |_: ToolContext, _: Value| {
            other.add_permits(1);
            async { "permitted" }
        };
        catalog.register(tool("permit"), permit).unwrap();
        digging
    }

    pub(crate) async fn until_begun(&self, calls: usize) {
        until(|| self.begun.load(Ordering::SeqCst) >= calls).await;
    }

    pub(crate) async fn until_gone(&self) {
        until(|| self.alive.load(Ordering::SeqCst) == 0).await;
    }
}

pub(crate) async fn until(is_reached: impl Fn() -> bool) {
    while !is_reached() {
        tokio::task::yield_now().await;
    }
}

//! [`Tasks`]: the tasks of a connection.

use std::future::Future;
use std::sync::{Arc, Mutex};

use tokio::task::JoinSet;
use tools::IgnorePoison as _;

/// The tasks of a connection, which end with it.
#[derive(Clone, Default)]
pub(super) struct Tasks(Arc<Mutex<JoinSet<()>>>);

impl Tasks {
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.0.lock().ignore_poison();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    pub(super) fn take(&self) -> JoinSet<()> {
        std::mem::take(&mut *self.0.lock().ignore_poison())
    }
}

//! Primitives that `shuttle` lacks, with a scheduling point before each step.

use std::fmt;

use super::atomic::{AtomicBool, Ordering};
use super::{Mutex, lock};

/// A [`std::sync::OnceLock`] whose waiters block on a lock of the model checker. A lock of std would stop all of its threads.
pub(crate) struct OnceLock<T> {
    value: std::sync::OnceLock<T>,
    is_set: AtomicBool,
    making: Mutex<()>,
}

impl<T> OnceLock<T> {
    pub(crate) fn new() -> Self {
        Self {
            value: std::sync::OnceLock::new(),
            is_set: AtomicBool::new(false),
            making: Mutex::new(()),
        }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        if self.is_set.load(Ordering::SeqCst) {
            self.value.get()
        } else {
            None
        }
    }

    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        let making = lock(&self.making);
        let value = self.value.get_or_init(make);
        self.is_set.store(true, Ordering::SeqCst);
        drop(making);
        value
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> Self {
        let copy = Self::new();
        if let Some(value) = self.get() {
            copy.get_or_init(|| value.clone());
        }
        copy
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// A [`tokio::sync::watch`] with scheduling points. Its internal locks are not modelled.
pub(crate) mod watch {
    use shuttle::sync::atomic::{AtomicBool, Ordering};
    use tokio::sync::watch;
    use tokio::sync::watch::Ref;
    use tokio::sync::watch::error::RecvError;

    #[derive(Clone, Debug)]
    pub(crate) struct Sender<T>(watch::Sender<T>);

    #[derive(Clone, Debug)]
    pub(crate) struct Receiver<T>(watch::Receiver<T>);

    impl<T> Sender<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(watch::Sender::new(value))
        }

        pub(crate) fn subscribe(&self) -> Receiver<T> {
            others_may_go();
            Receiver(self.0.subscribe())
        }

        pub(crate) fn send_if_modified(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
            others_may_go();
            self.0.send_if_modified(modify)
        }
    }

    impl<T> Receiver<T> {
        pub(crate) fn borrow(&self) -> Ref<'_, T> {
            others_may_go();
            self.0.borrow()
        }

        pub(crate) fn borrow_and_update(&mut self) -> Ref<'_, T> {
            others_may_go();
            self.0.borrow_and_update()
        }

        pub(crate) async fn changed(&mut self) -> Result<(), RecvError> {
            others_may_go();
            self.0.changed().await
        }
    }

    fn others_may_go() {
        AtomicBool::new(false).load(Ordering::SeqCst);
    }
}

//! [`InOrder`]: work in several threads with results in order.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, Scope, available_parallelism};

use tools::IgnorePoison as _;

/// The maximum number of threads, with the one that hands out the work.
const MAX_THREADS: usize = 8;

/// The number of items at work whose results were not taken. It does not depend on the number of threads, and so the results do not either.
const AHEAD: usize = 12;

/// An item, and where its result goes.
type Job<T, R> = (T, SyncSender<R>);

/// Applies a function to items in at most as many threads as there are processors.
///
/// The results come in the order of the items. The thread that waits for a result works meanwhile. With one item there is no other thread.
pub(crate) struct InOrder<'scope, 'env, T, R, W> {
    scope: &'scope Scope<'scope, 'env>,
    work: W,
    jobs: Sender<Job<T, R>>,
    queue: Arc<Mutex<Receiver<Job<T, R>>>>,
    results: VecDeque<Receiver<R>>,
    has_threads: bool,
}

impl<'scope, 'env, T, R, W> InOrder<'scope, 'env, T, R, W>
where
    T: Send + 'scope,
    R: Send + 'scope,
    W: FnMut(T) -> R + Clone + Send + 'scope,
{
    /// Each thread works with a clone of `work`.
    pub(crate) fn new(scope: &'scope Scope<'scope, 'env>, work: W) -> Self {
        let (jobs, queue) = channel();
        Self {
            scope,
            work,
            jobs,
            queue: Arc::new(Mutex::new(queue)),
            results: VecDeque::new(),
            has_threads: false,
        }
    }

    /// Adds an item. Returns the result of an earlier one if too many are at work.
    pub(crate) fn push(&mut self, item: T) -> Option<R> {
        if !self.results.is_empty() && !self.has_threads {
            self.start();
        }
        let (sender, result) = sync_channel(1);
        self.results.push_back(result);
        // The queue is open as long as `self`.
        let _ = self.jobs.send((item, sender));
        (self.results.len() > AHEAD).then(|| self.pop())?
    }

    /// Waits for the result of the first item whose result was not taken. Returns `None` after the last one, and if its work panicked, which
    /// panics in the thread of the scope too.
    pub(crate) fn pop(&mut self) -> Option<R> {
        let result = self.results.pop_front()?;
        loop {
            if let Ok(result) = result.try_recv() {
                return Some(result);
            }
            // If the queue is locked, another thread waits there, so it is empty.
            let job = self
                .queue
                .try_lock()
                .ok()
                .and_then(|queue| queue.try_recv().ok());
            let Some((item, sender)) = job else {
                return result.recv().ok();
            };
            let _ = sender.send((self.work)(item));
        }
    }

    fn start(&mut self) {
        self.has_threads = true;
        let threads = available_parallelism().map_or(1, usize::from);
        for _ in 1..threads.min(MAX_THREADS) {
            let (queue, mut work) = (self.queue.clone(), self.work.clone());
            let run = move || {
                loop {
                    let job = queue.lock().ignore_poison().recv();
                    let Ok((item, sender)) = job else { break };
                    // A search that ended takes no results.
                    let _ = sender.send(work(item));
                }
            };
            // With fewer threads, the others have more to do.
            let _ = Builder::new()
                .name("fs.search".to_owned())
                .spawn_scoped(self.scope, run);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread::scope;
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_have_the_order_of_the_items() {
        let work = |item: u64| {
            std::thread::sleep(Duration::from_micros(item * 7_919 % 500));
            item
        };
        let results = scope(|scope| {
            let mut ordered = InOrder::new(scope, work);
            let mut results: Vec<_> = (0..200).filter_map(|item| ordered.push(item)).collect();
            results.extend(std::iter::from_fn(|| ordered.pop()));
            results
        });
        assert_eq!(results, (0..200).collect::<Vec<_>>());
    }

    #[test]
    fn results_that_are_not_taken_do_not_matter() {
        scope(|scope| {
            let mut ordered = InOrder::new(scope, |item: u64| item);
            for item in 0..5 {
                assert_eq!(ordered.push(item), None);
            }
        });
    }

    #[test]
    #[should_panic = "a scoped thread panicked"]
    fn a_panic_of_the_work_ends_the_wait() {
        scope(|scope| {
            let main = std::thread::current().id();
            let mut ordered = InOrder::new(scope, move |item: u64| {
                assert_eq!(std::thread::current().id(), main, "in another thread");
                std::thread::sleep(Duration::from_millis(1));
                item
            });
            let _: Vec<_> = (0..200).filter_map(|item| ordered.push(item)).collect();
            while !ordered.results.is_empty() {
                let _ = ordered.pop();
            }
            // With one processor there is no other thread.
            assert!(
                available_parallelism().unwrap().get() > 1,
                "a scoped thread panicked"
            );
        });
    }
}

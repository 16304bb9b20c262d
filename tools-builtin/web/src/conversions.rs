//! [`Conversions`]: the conversions of documents that run at a time.

use std::panic::resume_unwind;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tools::{ToolContext, ToolError, ToolErrorKind};

/// Conversions of documents, of which a few run at a time. Further ones wait.
#[derive(Debug)]
pub(crate) struct Conversions {
    permits: Semaphore,
    longest: Duration,
}

impl Conversions {
    /// Creates conversions of which `at_a_time` run at a time, each up to `longest`.
    pub(crate) const fn new(at_a_time: usize, longest: Duration) -> Self {
        Self {
            permits: Semaphore::const_new(at_a_time),
            longest,
        }
    }

    /// Runs a conversion, which may take long, on a thread that no other call shares. Resumes its panic, which the pipeline isolates.
    ///
    /// The conversion ends when the function that it is handed returns true: after its time, or when its call is cancelled. It keeps
    /// its permit until then, also if nothing waits for it any more.
    pub(crate) async fn run<T: Send + 'static>(
        &'static self,
        cx: &ToolContext,
        conversion: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        let permit = self.permits.acquire().await.ok();
        let (call, started) = (cx.clone(), Instant::now());
        let converted = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            conversion(&|| call.is_cancelled() || started.elapsed() > self.longest)
        });
        converted
            .await
            .map_err(|error| match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                Err(error) => {
                    ToolErrorKind::internal(format!("the runtime dropped a conversion: {error}"))
                        .into()
                }
            })
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::{Pin, pin};
    use std::sync::mpsc;
    use std::task::{Context, Waker};

    use tools::CancellationToken;

    use super::*;
    use tools::Host;

    const LONG: Duration = Duration::MAX;

    /// Runs a test on a runtime with a number of threads for conversions, one more than run at a time.
    fn with_threads(threads: usize, test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(threads)
            .build()
            .unwrap()
            .block_on(test);
    }

    /// Begins a future, which does not end yet.
    fn begin(future: Pin<&mut impl Future>) {
        assert!(
            future
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
    }

    /// Waits until the one free thread ran the conversions that were begun.
    async fn settle() {
        tokio::task::spawn_blocking(|| ()).await.unwrap();
    }

    #[test]
    fn a_further_conversion_waits_until_one_of_those_at_a_time_ended() {
        static TWO: Conversions = Conversions::new(2, LONG);
        with_threads(3, async {
            let cx = Host::new();
            let (events, log) = mpsc::channel();
            let (release, released) = mpsc::channel::<()>();
            let end = events.clone();
            let mut first = pin!(TWO.run(&cx, move |_| {
                released.recv().unwrap();
                end.send("first").unwrap();
            }));
            let (release_second, released) = mpsc::channel::<()>();
            let mut second = pin!(TWO.run(&cx, move |_| released.recv().unwrap()));
            let mut third = pin!(TWO.run(&cx, move |_| events.send("third").unwrap()));
            begin(first.as_mut());
            begin(second.as_mut());
            begin(third.as_mut());
            settle().await;
            assert_eq!(
                log.try_recv(),
                Err(mpsc::TryRecvError::Empty),
                "the third waits"
            );
            release.send(()).unwrap();
            third.await.unwrap();
            assert_eq!(log.iter().take(2).collect::<Vec<_>>(), ["first", "third"]);
            release_second.send(()).unwrap();
            second.await.unwrap();
            first.await.unwrap();
        });
    }

    #[test]
    fn a_conversion_that_nothing_waits_for_keeps_its_permit_until_it_ends() {
        static ONE: Conversions = Conversions::new(1, LONG);
        with_threads(2, async {
            let cx = Host::new();
            let (events, log) = mpsc::channel();
            let (release, released) = mpsc::channel::<()>();
            let (began, begins) = mpsc::channel();
            {
                let mut abandoned = pin!(ONE.run(&cx, move |_| {
                    began.send(()).unwrap();
                    released.recv().unwrap();
                }));
                begin(abandoned.as_mut());
            }
            begins.recv().unwrap();
            let mut next = pin!(ONE.run(&cx, move |_| events.send(()).unwrap()));
            begin(next.as_mut());
            settle().await;
            assert_eq!(
                log.try_recv(),
                Err(mpsc::TryRecvError::Empty),
                "the next waits"
            );
            release.send(()).unwrap();
            next.await.unwrap();
        });
    }

    #[tokio::test]
    async fn a_conversion_is_over_when_its_call_is_cancelled() {
        static ONE: Conversions = Conversions::new(1, LONG);
        let token = CancellationToken::new();
        let cx = Host::new().with_cancellation(token.clone());
        let is_over = ONE.run(&cx, move |is_over| {
            let before = is_over();
            token.cancel();
            (before, is_over())
        });
        assert_eq!(is_over.await.unwrap(), (false, true));
    }

    #[tokio::test]
    async fn a_conversion_is_over_after_its_time() {
        static ONE: Conversions = Conversions::new(1, Duration::ZERO);
        assert!(
            ONE.run(&Host::new(), |is_over| (0..1_000_000).any(|_| is_over()))
                .await
                .unwrap()
        );
    }

    #[tokio::test]
    async fn a_panic_of_a_conversion_is_one_of_its_call_and_returns_the_permit() {
        static ONE: Conversions = Conversions::new(1, LONG);
        let call = async {
            ONE.run(&Host::new(), |_| -> () {
                resume_unwind(Box::new("on purpose"))
            })
            .await
        };
        let panic = tokio::spawn(call).await.unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref(), Some(&"on purpose"));
        assert_eq!(ONE.run(&Host::new(), |_| 1).await.unwrap(), 1);
    }
}

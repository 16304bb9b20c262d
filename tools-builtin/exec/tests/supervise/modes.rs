//! Where a program runs, and how a test of it is made.

use std::future::Future;
use std::time::Duration;

use libtest_mimic::Trial;
use tools_exec::supervise::{Capture, Launch, Running, start};

use crate::marker::Marker;

const BWRAP: &str = "/usr/bin/bwrap";

/// How long a test waits for a condition before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Bare,
    Bubblewrap,
}

/// Returns the modes that this machine has.
pub(crate) fn available() -> Vec<Mode> {
    let usable = std::process::Command::new(BWRAP)
        .args(["--dev-bind", "/", "/", "--unshare-pid", "true"])
        .status();
    let usable = usable.is_ok_and(|status| status.success());
    if usable {
        vec![Mode::Bare, Mode::Bubblewrap]
    } else {
        vec![Mode::Bare]
    }
}

impl Mode {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Bubblewrap => "bubblewrap",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Bare, Self::Bubblewrap]
            .into_iter()
            .find(|mode| mode.name() == name)
    }

    /// Returns a program with arguments and the marker in its environment.
    pub(crate) fn launch(self, marker: &Marker, words: &[&str]) -> Launch {
        let mut launch = match self {
            Self::Bare => Launch::new(words[0]).with_args(&words[1..]),
            Self::Bubblewrap => Launch::new(BWRAP)
                .with_args([
                    "--unshare-pid",
                    "--die-with-parent",
                    "--dev-bind",
                    "/",
                    "/",
                    "--proc",
                    "/proc",
                    "--",
                ])
                .with_args(words),
        };
        launch.ends_with_parent = self == Self::Bubblewrap;
        launch
            .with_env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .with_env(Marker::VARIABLE, marker.path())
    }

    /// Starts a program.
    pub(crate) async fn start(self, marker: &Marker, words: &[&str]) -> Running<Capture> {
        let capture = Capture::new(8192);
        start(&self.launch(marker, words), capture.clone(), capture)
            .await
            .expect("the program starts")
    }

    /// Starts a script for `sh`.
    pub(crate) async fn sh(self, marker: &Marker, script: &str) -> Running<Capture> {
        self.start(marker, &["sh", "-c", script]).await
    }

    /// Makes a test, with a marker of its own, on a runtime of its own.
    pub(crate) fn trial<F>(
        self,
        name: &str,
        test: impl FnOnce(Self, Marker) -> F + Send + 'static,
    ) -> Trial
    where
        F: Future<Output = ()>,
    {
        Trial::test(format!("{}::{name}", self.name()), move || {
            run(test(self, Marker::new()));
            Ok(())
        })
    }
}

/// Runs a future to its end.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        tokio::time::timeout(PATIENCE * 10, future)
            .await
            .expect("a test that ends")
    })
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    if tokio::time::timeout(PATIENCE, waiting).await.is_err() {
        panic!("waited in vain until {what}");
    }
}

/// Waits until the program has written a line.
pub(crate) async fn line(running: &Running<Capture>, line: &str) {
    until(&format!("the program writes {line}"), || {
        running.stdout().head.lines().any(|written| written == line)
    })
    .await;
}

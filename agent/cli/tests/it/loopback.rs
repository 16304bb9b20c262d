//! A server on the loopback for tests without a runtime.

use std::ops::Deref;

use tokio::runtime::{Builder, Runtime};
use tools_testkit::http::{Received, TestServer};

pub(crate) struct Loopback {
    server: TestServer,
    /// Runs the server in a thread of its own.
    _runtime: Runtime,
}

impl Loopback {
    pub(crate) fn new(answer: impl Fn(&Received) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_io()
            .build()
            .unwrap();
        Self {
            server: runtime.block_on(TestServer::start(answer)),
            _runtime: runtime,
        }
    }
}

impl Deref for Loopback {
    type Target = TestServer;

    fn deref(&self) -> &TestServer {
        &self.server
    }
}

//! [`TestResolver`]: a resolver for tests.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Mutex;

use tools::IgnorePoison as _;

use tools_http::{Resolver, ResolverFuture};

/// A resolver for tests, which knows only the names that it is given.
///
/// An address with a port other than 0 also sets the port of URLs that name none, so that `https://example.org/` reaches a server on
/// another port.
#[derive(Default)]
pub struct TestResolver {
    names: HashMap<String, Vec<Vec<SocketAddr>>>,
    lookups: Mutex<Vec<String>>,
}

impl TestResolver {
    /// Creates a resolver that knows no name.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a name with one address.
    #[must_use]
    pub fn with_name(self, name: &str, address: SocketAddr) -> Self {
        self.with_answers(name, [vec![address]])
    }

    /// Adds a name with an answer for each lookup. The last one repeats.
    #[must_use]
    pub fn with_answers(
        mut self,
        name: &str,
        answers: impl IntoIterator<Item = Vec<SocketAddr>>,
    ) -> Self {
        self.names
            .insert(name.to_owned(), answers.into_iter().collect());
        self
    }

    /// Returns the names that were looked up, in order.
    pub fn lookups(&self) -> Vec<String> {
        self.lookups.lock().ignore_poison().clone()
    }
}

impl Resolver for TestResolver {
    fn resolve(&self, host: &str) -> ResolverFuture {
        let mut lookups = self.lookups.lock().ignore_poison();
        let before = lookups.iter().filter(|name| *name == host).count();
        lookups.push(host.to_owned());
        let found = self
            .names
            .get(host)
            .and_then(|answers| answers.get(before).or(answers.last()))
            .cloned();
        Box::pin(async move {
            found.ok_or_else(|| io::Error::other("the test's resolver does not know this name"))
        })
    }
}

//! [`TestHost`]: a catalog and a context for tests.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tools::{
    Approver, Arguments, Catalog, Execution, Grant, Host, Person, ProgressSink, ToolError,
    ToolResult,
};

use crate::into_catalog::IntoCatalog;

/// A host for tests: calls the tools of a crate through the whole pipeline.
///
/// A new host grants everything and has no services, no approver, no person and no policy. Tools keep their own limits.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use serde_json::json;
/// use tools::tool;
/// use tools_testkit::TestHost;
///
/// /// A service of the crate under test.
/// struct Greeting(&'static str);
///
/// /// Greets a person.
/// #[tool(name = "person.greet", pure, needs = Greeting)]
/// fn greet(
///     cx: &tools::ToolContext,
///     /// The name.
///     name: String,
/// ) -> Result<String, tools::ToolError> {
///     Ok(format!("{}, {name}", cx.need::<Greeting>()?.0))
/// }
///
/// let host = TestHost::new(&[&GREET_TOOL]).with_service(Greeting("Hello")).with_timeout(Duration::from_secs(1));
/// let result = host.call_blocking("person.greet", json!({"name": "Ada"}))?;
/// assert_eq!(result.to_text(), "Hello, Ada");
/// # Ok::<(), tools::ToolError>(())
/// ```
#[derive(Clone, Debug)]
pub struct TestHost {
    catalog: Catalog,
    host: Host,
}

impl TestHost {
    /// Creates a host of these tools.
    ///
    /// # Panics
    /// Panics if a tool cannot be registered. [`HouseRules`](crate::HouseRules) reports such tools together with all other faults.
    #[track_caller]
    pub fn new(tools: impl IntoCatalog) -> Self {
        let (catalog, errors) = tools.into_catalog();
        if !errors.is_empty() {
            let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
            panic!("the tools cannot be registered:\n{}", errors.join("\n"));
        }
        Self {
            catalog,
            host: Host::new().with_grant(Grant::all()),
        }
    }

    /// Replaces the grant, which is everything at first. An empty list leaves pure tools only.
    ///
    /// # Panics
    /// Panics if a clause is invalid.
    #[must_use]
    #[track_caller]
    pub fn with_grant(self, clauses: &[&str]) -> Self {
        match Grant::parse(clauses) {
            Ok(grant) => self.with_context(|host| host.with_grant(grant)),
            Err(error) => panic!("the grant of the test host is invalid: {error}"),
        }
    }

    /// Adds a service and replaces an earlier one of the same type.
    #[must_use]
    pub fn with_service<T: Send + Sync + 'static>(self, service: T) -> Self {
        self.with_context(|host| host.with_service(service))
    }

    /// Sets the time limit of each call.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        self.with_context(|host| host.with_timeout(timeout))
    }

    /// Sets the approver, such as a clone of a [`RecordingApprover`](crate::RecordingApprover).
    #[must_use]
    pub fn with_approver(self, approver: impl Approver + 'static) -> Self {
        self.with_context(|host| host.with_approver(Arc::new(approver)))
    }

    /// Sets the person who answers questions, such as a clone of a [`RecordingPerson`](crate::RecordingPerson).
    #[must_use]
    pub fn with_person(self, person: impl Person + 'static) -> Self {
        self.with_context(|host| host.with_person(Arc::new(person)))
    }

    /// Sets the receiver of progress reports, such as a clone of a [`RecordingProgress`](crate::RecordingProgress).
    #[must_use]
    pub fn with_progress(self, sink: impl ProgressSink + 'static) -> Self {
        self.with_context(|host| host.with_progress(Arc::new(sink)))
    }

    /// Changes any other setting of the host, such as its policy.
    #[must_use]
    pub fn with_context(mut self, change: impl FnOnce(Host) -> Host) -> Self {
        self.host = change(self.host);
        self
    }

    /// Returns the settings of the calls.
    pub fn context(&self) -> &Host {
        &self.host
    }

    /// Returns the catalog.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Calls a tool. The future does not borrow the host, so it can run in another task.
    ///
    /// # Errors
    /// The future returns a [`ToolError`] if the tool was not run or failed.
    pub fn call(&self, tool: &str, arguments: impl Into<Arguments>) -> Execution {
        self.catalog.execute(&self.host, tool, arguments)
    }

    /// Calls a tool from a test that is not async, in a runtime of its own.
    ///
    /// # Errors
    /// Returns a [`ToolError`] if the tool was not run or failed.
    ///
    /// # Panics
    /// Panics in an async test. Use [`call`](Self::call) there.
    pub fn call_blocking(
        &self,
        tool: &str,
        arguments: impl Into<Arguments>,
    ) -> Result<ToolResult, ToolError> {
        runtime().block_on(self.call(tool, arguments))
    }

    /// Calls a tool and returns the text of its result.
    ///
    /// # Panics
    /// Panics if the call fails.
    pub async fn text(&self, tool: &str, arguments: impl Into<Arguments>) -> String {
        expect_success(tool, self.call(tool, arguments).await).to_text()
    }

    /// Calls a tool and returns its structured result.
    ///
    /// # Panics
    /// Panics if the call fails or its result is text only.
    pub async fn value(&self, tool: &str, arguments: impl Into<Arguments>) -> Value {
        let result = expect_success(tool, self.call(tool, arguments).await);
        match result.structured {
            Some(value) => value.into_value(),
            None => panic!("{tool} returned text only: {}", result.to_text()),
        }
    }
}

fn expect_success(tool: &str, outcome: Result<ToolResult, ToolError>) -> ToolResult {
    outcome.unwrap_or_else(|error| panic!("the call of {tool} failed: {error}"))
}

/// Creates a runtime on the current thread.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("the operating system allows a runtime")
}

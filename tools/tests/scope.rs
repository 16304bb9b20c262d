//! Where tools are looked up: places in a scope, and scopes that threads share.

#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::Arc;

use tools::{Catalog, Entry, Resolve, Sharded, ToolContext, ToolError, tool};

/// Doubles.
#[tool(pure)]
fn double(
    /// What.
    number: i32,
) -> i32 {
    2 * number
}

/// Tools in some order, which is that of their places.
struct Places(Vec<Arc<Entry>>);

impl Places {
    fn new() -> Self {
        let mut catalog = Catalog::new();
        catalog.submit(&[&DOUBLE_TOOL]).unwrap();
        Self(catalog.list())
    }
}

impl Resolve for Places {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        let found = self.place(name).and_then(|place| self.at(place));
        found.cloned().ok_or_else(|| ToolError::not_found(name, std::iter::empty()))
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|entry| *entry.name() == *name)
    }

    fn at(&self, place: usize) -> Option<&Arc<Entry>> {
        self.0.get(place)
    }
}

/// Says where its tool stands, and has none there when it is asked.
struct Forgetful(Places);

impl Resolve for Forgetful {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.0.resolve(name)
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.0.place(name)
    }
}

#[tokio::test]
async fn a_tool_that_is_gone_from_its_place_is_an_error_whichever_way_its_call_takes() {
    let scope = Sharded::new(Forgetful(Places::new()));
    for cx in [ToolContext::new(), ToolContext::new().with_recorded_content(true)] {
        let outcome = tools::call::execute(scope.scope(), &cx, "double", r#"{"number": 1}"#).await;
        assert!(matches!(outcome, Err(ToolError::Internal { .. })), "{outcome:?}");
    }
}

#[test]
fn threads_that_share_a_scope_find_the_same_tools() {
    let scope = Sharded::new(Places::new());
    let entry = scope.resolve("double").unwrap();
    std::thread::scope(|threads| {
        for _ in 0..20 {
            threads.spawn(|| {
                let own = scope.clone().scope();
                assert!(Arc::ptr_eq(&own.resolve("double").unwrap(), &entry));
                assert!(Arc::ptr_eq(own.at(own.place("double").unwrap()).unwrap(), &entry));
                let call = tools::call::execute(own, &ToolContext::new(), "double", r#"{"number": 2}"#);
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                assert_eq!(runtime.block_on(call).unwrap().to_text(), "4");
            });
        }
    });
}

//! A scope that threads share.

use std::sync::Arc;

use tools::call::Resolve;
use tools::{Catalog, Entry, Host, ToolError, tool};

/// Doubles.
#[tool(pure)]
fn double(
    /// The number.
    number: i32,
) -> i32 {
    2 * number
}

/// A list of tools.
struct Shelf(Vec<Arc<Entry>>);

impl Shelf {
    fn new() -> Self {
        let mut catalog = Catalog::new();
        catalog.submit(&[&DOUBLE_TOOL]).unwrap();
        Self(catalog.list())
    }
}

impl Resolve for Shelf {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        let found = self.0.iter().find(|entry| *entry.name() == *name);
        found
            .cloned()
            .ok_or_else(|| ToolError::not_found(name, std::iter::empty()))
    }
}

#[test]
fn threads_that_share_a_scope_find_the_same_tools() {
    let scope = Arc::new(Shelf::new());
    let entry = scope.resolve("double").unwrap();
    std::thread::scope(|threads| {
        for _ in 0..20 {
            threads.spawn(|| {
                assert!(Arc::ptr_eq(&scope.resolve("double").unwrap(), &entry));
                let call =
                    tools::call::execute(scope.clone(), &Host::new(), "double", r#"{"number": 2}"#);
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .build()
                    .unwrap();
                assert_eq!(runtime.block_on(call).unwrap().to_text(), "4");
            });
        }
    });
}

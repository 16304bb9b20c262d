//! Conflicts and problems of linked providers. A separate program, because these providers are linked for all tests in it.

#![allow(
    clippy::unwrap_used,
    reason = "clippy takes functions beside the tests for code outside of tests"
)]

use std::sync::Arc;

use agent::provider::{self, inventory};
use agent::{Direct, Provider, ProviderError, ProviderOptions, ProviderSubmission};
use tools::linked::LookupError;
use tools::source;

fn create(_options: &ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError> {
    Ok(Arc::new(Direct))
}

inventory::submit! {
    ProviderSubmission { name: "twin", description: "one", source: source!(), service: |_| None, create }
}

inventory::submit! {
    ProviderSubmission { name: "twin", description: "the other", source: source!(), service: |_| None, create }
}

inventory::submit! {
    ProviderSubmission { name: "not a name", description: "cannot be named", source: source!(), service: |_| None, create }
}

#[test]
fn two_linked_providers_of_one_name_conflict_and_neither_wins() {
    let error = provider::get("twin").unwrap_err();
    assert!(
        matches!(&error, ProviderError::Lookup(LookupError::Conflict(conflict)) if conflict.sources.len() == 2),
        "{error}"
    );
    assert_eq!(
        error.to_string().matches("provider_conflict.rs:").count(),
        2,
        "{error}"
    );
    assert!(
        provider::list()
            .iter()
            .all(|submission| submission.name != "twin")
    );
    let [conflict] = &provider::conflicts()[..] else {
        panic!()
    };
    assert_eq!((conflict.name, conflict.sources.len()), ("twin", 2));
}

#[test]
fn a_linked_provider_without_a_valid_name_is_a_problem() {
    let error = provider::get("not a name").unwrap_err();
    assert!(
        matches!(&error, ProviderError::Lookup(LookupError::Unknown { .. })),
        "{error}"
    );
    assert!(
        provider::list()
            .iter()
            .all(|submission| submission.name != "not a name")
    );
    let [problem] = &provider::problems()[..] else {
        panic!()
    };
    assert_eq!(problem.name, "not a name");
    let text = problem.to_string();
    assert!(
        text.contains("use letters, digits") && text.contains("provider_conflict.rs:"),
        "{text}"
    );
}

//! What is wrong with linked providers. In a program of its own: what is linked here is linked for all of its tests.

#![allow(clippy::unwrap_used, reason = "clippy takes functions beside the tests for code outside of tests")]

use std::sync::Arc;

use agent::provider::{self, inventory};
use agent::{Direct, Provider, ProviderError, ProviderOptions, ProviderSubmission, Providers, RegisterProviderError};
use tools::source;

fn create(_options: &ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError> {
    Ok(Arc::new(Direct))
}

inventory::submit! {
    ProviderSubmission { name: "twin", description: "one", source: source!(), create }
}

inventory::submit! {
    ProviderSubmission { name: "twin", description: "the other", source: source!(), create }
}

inventory::submit! {
    ProviderSubmission { name: "not a name", description: "cannot be named", source: source!(), create }
}

#[test]
fn two_linked_providers_of_one_name_conflict_and_neither_wins() {
    let mut providers = Providers::linked();
    let error = providers.get("twin").unwrap_err();
    assert!(matches!(&error, ProviderError::Conflict { sources, .. } if sources.len() == 2), "{error}");
    assert_eq!(error.to_string().matches("provider_conflict.rs:").count(), 2, "{error}");
    assert!(providers.contains("twin"));
    assert!(providers.list().iter().all(|entry| entry.name() != "twin"));
    assert_eq!(providers.conflicts().len(), 1);
    assert_eq!(provider::conflicts(), providers.conflicts());

    let refused = providers.register("twin", "mine", create);
    assert!(matches!(refused, Err(RegisterProviderError::Exists { existing, .. }) if existing.len() == 2));
    providers.replace("twin", "mine", create).unwrap();
    assert!(providers.conflicts().is_empty());
    assert_eq!(providers.get("twin").unwrap().description(), "mine");
}

#[test]
fn a_linked_provider_without_a_valid_name_is_a_problem() {
    let providers = Providers::linked();
    assert!(!providers.contains("not a name"));
    let [problem] = &providers.problems()[..] else { panic!() };
    assert_eq!(problem.name, "not a name");
    let text = problem.to_string();
    assert!(text.contains("use letters, digits") && text.contains("provider_conflict.rs:"), "{text}");
    assert_eq!(provider::problems(), providers.problems());
}

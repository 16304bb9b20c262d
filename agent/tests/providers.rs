//! The registry of providers, as a value.

#![allow(clippy::unwrap_used, reason = "clippy takes functions beside the tests for code outside of tests")]

use std::sync::Arc;

use agent::{Direct, ProviderError, ProviderOptions, ProviderSubmission, Providers, RegisterProviderError};
use tools::Source;

fn submission(name: &'static str, file: &'static str) -> ProviderSubmission {
    let source = Source::new("some-crate", "1.0.0", file, 1);
    ProviderSubmission { name, description: "a test", source, create: |_| Ok(Arc::new(Direct)) }
}

fn names(providers: &Providers) -> Vec<String> {
    providers.list().iter().map(|entry| entry.name().to_owned()).collect()
}

#[test]
fn the_embedded_providers_are_linked() {
    let providers = Providers::linked();
    assert_eq!(names(&providers), ["direct", "scripted"]);
    assert_eq!(providers.get("direct").unwrap().source().crate_name, "toolcrib-agent");
    assert!(providers.conflicts().is_empty());
}

#[test]
fn registries_are_independent() {
    let mut one = Providers::new();
    one.register("mine", "a test", |_: &ProviderOptions| Ok(Arc::new(Direct))).unwrap();
    assert_eq!(names(&one), ["mine"]);
    assert_eq!(one.get("mine").unwrap().source().crate_name, "providers");
    assert!(!Providers::new().contains("mine"));
    assert!(one.get("mine").unwrap().create(&ProviderOptions::new()).is_ok());
}

#[test]
fn an_unknown_provider_is_refused_with_those_there_are() {
    let error = Providers::linked().get("openai").unwrap_err();
    assert_eq!(error.to_string(), "there is no provider named \"openai\"; use one of: direct, scripted");
}

#[test]
fn a_name_that_is_taken_or_none_is_refused_and_nothing_changes() {
    let mut providers = Providers::linked();
    let create = |_: &ProviderOptions| Err(ProviderError::NoPrompt);
    let error = providers.register("direct", "another", create).unwrap_err();
    assert!(matches!(&error, RegisterProviderError::Exists { existing, .. } if existing.len() == 1), "{error}");
    assert!(error.to_string().contains("direct.rs") && error.to_string().contains("providers.rs"), "{error}");
    for name in ["", " ", "a b", "ä"] {
        assert!(matches!(providers.register(name, "x", create), Err(RegisterProviderError::Name { .. })), "{name:?}");
    }
    assert_eq!(names(&providers), ["direct", "scripted"]);
}

#[test]
fn two_crates_that_claim_one_name_conflict_and_neither_wins() {
    let mut providers = Providers::new();
    providers.submit(&[
        submission("x", "b.rs"),
        submission("x", "a.rs"),
        submission("x", "a.rs"),
        submission("y", "a.rs"),
    ]);
    assert_eq!(names(&providers), ["y"]);
    let error = providers.get("x").unwrap_err().to_string();
    assert!(error.contains("a.rs:1") && error.contains("b.rs:1"), "{error}");
    assert_eq!(providers.conflicts()[0].sources.len(), 2);
    assert!(providers.contains("x"));
    let create = |_: &ProviderOptions| Err(ProviderError::NoPrompt);
    assert!(matches!(providers.register("x", "x", create), Err(RegisterProviderError::Exists { .. })));
}

#[test]
fn a_submission_that_arrives_twice_is_one() {
    let mut providers = Providers::new();
    providers.submit(&[submission("x", "a.rs"), submission("x", "a.rs")]);
    assert_eq!(names(&providers), ["x"]);
}

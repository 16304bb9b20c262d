//! The registry of providers, as a value.

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
    assert_eq!(one.get("mine").unwrap().source().crate_name, "it");
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
fn a_replaced_provider_is_the_one_that_is_made() {
    let mut providers = Providers::linked();
    let before = providers.clone();
    providers.replace("direct", "another", |_: &ProviderOptions| Err(ProviderError::NoPrompt)).unwrap();
    providers.replace("mine", "a new one", |_: &ProviderOptions| Ok(Arc::new(Direct))).unwrap();
    assert_eq!(names(&providers), ["direct", "mine", "scripted"]);
    let direct = providers.get("direct").unwrap();
    assert_eq!((direct.description(), direct.source().crate_name.as_ref()), ("another", "it"));
    assert!(direct.source().file.ends_with("providers.rs"), "{}", direct.source());
    assert!(matches!(direct.create(&ProviderOptions::new()).err(), Some(ProviderError::NoPrompt)));
    let refused = providers.replace("a b", "x", |_: &ProviderOptions| Ok(Arc::new(Direct)));
    assert!(matches!(refused, Err(RegisterProviderError::Name { .. })));
    assert_eq!(before.get("direct").unwrap().source().crate_name, "toolcrib-agent", "a copy goes its own way");
}

#[test]
fn a_name_that_was_taken_out_is_free() {
    let mut providers = Providers::linked();
    assert!(providers.unregister("direct"));
    assert!(!providers.unregister("direct") && !providers.contains("direct"));
    providers.register("direct", "mine", |_: &ProviderOptions| Ok(Arc::new(Direct))).unwrap();
    assert_eq!(providers.get("direct").unwrap().description(), "mine");
}

#[test]
fn submissions_are_taken_in_all_or_none() {
    let mut providers = Providers::new();
    let taken = submission("x", "a.rs");
    providers.submit(&[&taken, &taken]).unwrap();
    providers.submit(&[&taken, &submission("y", "a.rs")]).unwrap();
    assert_eq!(names(&providers), ["x", "y"], "what is there already is passed over");

    let (fresh, bad) = (submission("z", "a.rs"), submission("not a name", "a.rs"));
    let refused = providers.submit(&[&fresh, &bad]);
    assert!(matches!(&refused, Err(RegisterProviderError::Name { name }) if name == "not a name"), "{refused:?}");

    let other = submission("x", "b.rs");
    for claims in [[&fresh, &other], [&submission("z", "b.rs"), &fresh]] {
        let error = providers.submit(&claims).unwrap_err();
        assert!(matches!(&error, RegisterProviderError::Exists { .. }), "{error}");
        assert!(error.to_string().contains("a.rs:1") && error.to_string().contains("b.rs:1"), "{error}");
    }
    assert_eq!(names(&providers), ["x", "y"]);
    assert_eq!(providers.get("x").unwrap().source(), &taken.source);
}

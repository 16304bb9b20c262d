//! The one test of the process-wide registry of providers.

use std::sync::Arc;

use agent::{Direct, ProviderOptions, provider};

#[test]
fn the_process_wide_registry_holds_what_is_linked_and_what_is_registered() {
    assert!(provider::contains("direct") && provider::contains("scripted"));
    assert!(!provider::contains("mine"));
    provider::register("mine", "a test", |_: &ProviderOptions| Ok(Arc::new(Direct))).unwrap();
    assert!(provider::register("mine", "a test", |_: &ProviderOptions| Ok(Arc::new(Direct))).is_err());
    let names: Vec<_> = provider::list().iter().map(|entry| entry.name().to_owned()).collect();
    assert_eq!(names, ["direct", "mine", "scripted"]);
    assert_eq!(provider::get("mine").unwrap().create(&ProviderOptions::new()).unwrap().name(), "direct");
    assert!(provider::conflicts().is_empty());
}

//! The one test of the process-wide registry of providers.

use std::sync::Arc;

use agent::{Direct, ProviderOptions, ProviderSubmission, provider};
use tools::source;

#[test]
fn the_process_wide_registry_holds_what_is_linked_and_what_is_registered() {
    assert!(provider::contains("direct") && provider::contains("scripted"));
    assert!(!provider::contains("mine"));
    provider::register("mine", "a test", |_: &ProviderOptions| Ok(Arc::new(Direct))).unwrap();
    assert!(provider::register("mine", "a test", |_: &ProviderOptions| Ok(Arc::new(Direct))).is_err());
    let names: Vec<_> = provider::list().iter().map(|entry| entry.name().to_owned()).collect();
    assert_eq!(names, ["direct", "mine", "scripted"]);
    assert_eq!(provider::get("mine").unwrap().create(&ProviderOptions::new()).unwrap().name(), "direct");
    assert!(provider::conflicts().is_empty() && provider::problems().is_empty());

    let before = provider::snapshot();
    provider::replace("mine", "another", |_: &ProviderOptions| Ok(Arc::new(Direct))).unwrap();
    assert_eq!(provider::get("mine").unwrap().description(), "another");
    assert!(provider::get("mine").unwrap().source().file.ends_with("global.rs"));
    assert_eq!(before.get("mine").unwrap().description(), "a test");

    let create = |_: &ProviderOptions| Ok(Arc::new(Direct) as Arc<dyn agent::Provider>);
    let submission = ProviderSubmission { name: "late", description: "a test", source: source!(), create };
    provider::submit(&[&submission]).unwrap();
    provider::submit(&[&submission]).unwrap();
    assert!(provider::contains("late"));
    let nameless = ProviderSubmission { name: "", ..submission };
    assert!(provider::submit(&[&nameless]).is_err());

    assert!(provider::unregister("mine") && !provider::unregister("mine"));
    assert!(!provider::contains("mine"));

    // What is dropped may use the registry, so nothing is dropped under its lock.
    struct Uses;
    impl Drop for Uses {
        fn drop(&mut self) {
            provider::contains("direct");
        }
    }
    for is_replaced in [true, false] {
        let uses = Uses;
        provider::register("uses", "a test", move |_: &ProviderOptions| {
            let _uses = &uses;
            Ok(Arc::new(Direct))
        })
        .unwrap();
        if is_replaced {
            provider::replace("uses", "a test", |_: &ProviderOptions| Ok(Arc::new(Direct))).unwrap();
        }
        assert!(provider::unregister("uses"));
    }
}

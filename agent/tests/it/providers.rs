//! The providers that are linked, by name.

use agent::provider;

#[test]
fn the_embedded_providers_are_linked() {
    let names: Vec<_> = provider::list()
        .iter()
        .map(|submission| submission.name)
        .collect();
    assert_eq!(names, ["direct", "scripted"]);
    assert_eq!(
        provider::get("direct").unwrap().source.crate_name,
        "toolcrib-agent"
    );
    assert!(provider::conflicts().is_empty() && provider::problems().is_empty());
}

#[test]
fn an_unknown_provider_is_refused_with_those_there_are() {
    let error = provider::get("openai").unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no provider named \"openai\"; use one of: direct, scripted"
    );
}

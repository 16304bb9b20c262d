//! The checks of an untrusted project file, since a checkout can come from anyone.
//!
//! Such a file may narrow the user's settings, and choose tools and a profile if the user's file does not. It may not grant
//! more, spend more, or redirect the user's key or prompts. The program's own default settings count as the user's.

use std::path::{Path, PathBuf};

use super::access::AccessKeys;
use super::error::SettingsError;
use super::layer::Layer;
use super::origin::{Origin, Setting};
use super::project::{CONTRADICTS, GRANTS, NARROWS};
use super::values::Values;

/// Returns an error for the first setting that an untrusted project file may not have. `user` has the layers below it, and
/// `advice` says how to trust the file.
pub(super) fn check(project: &Layer, user: &Layer, advice: &str) -> Result<(), SettingsError> {
    let refuse = |refusal: Option<(&str, &Origin, &'static str)>| match refusal {
        Some((key, origin, reason)) => Err(SettingsError::Untrusted {
            origin: origin.clone(),
            key: key.to_owned(),
            reason,
            advice: advice.to_owned(),
        }),
        None => Ok(()),
    };
    refuse(project.values.refusal(&user.values))?;
    // An unknown profile is reported by `Settings::from_layers`.
    let is_users_profile = |name: &&Setting<String>| {
        !project.profiles.contains_key(&name.value) && user.profiles.contains_key(&name.value)
    };
    let borrowed = project.values.of::<AccessKeys>().profile.as_ref().filter(is_users_profile);
    refuse(borrowed.map(|name| ("choosing a profile of the user's file", &name.origin, GRANTS)))?;
    for (name, profile) in &project.profiles {
        let is_taken = user.profiles.contains_key(name);
        refuse(is_taken.then_some(("redefining a profile of the user's file", &profile.origin, CONTRADICTS)))?;
        refuse(profile.value.refusal(&user.values))?;
    }
    Ok(())
}

/// Returns the settings of a file, one on each line. Those that only an approved file may have come first.
pub(super) fn effects(layer: &Layer) -> Vec<String> {
    let of_profile = |(name, profile): (&String, &Setting<Values>)| rows(&format!("profile {name}: "), &profile.value);
    let all = rows("", &layer.values).into_iter().chain(layer.profiles.iter().flat_map(of_profile));
    let (narrowing, others): (Vec<_>, Vec<_>) = all.partition(|(is_narrowing, _)| *is_narrowing);
    others.into_iter().chain(narrowing).map(|(_, line)| line).collect()
}

/// Returns a line for each value that is set, and whether every project may set it.
fn rows(prefix: &str, values: &Values) -> Vec<(bool, String)> {
    let set = values.rows().filter(|(_, _, origin)| *origin != Origin::Default);
    set.map(|(key, value, _)| (key.project == NARROWS, format!("{prefix}{} = {value}", key.name))).collect()
}

/// Returns the origin of the user's entry that trusts this directory or one above it. Returns `None` if there is none. Links
/// are resolved on both sides.
pub(super) fn trusts<'a>(user: &'a Layer, directory: &Path) -> Option<&'a Origin> {
    let directory = directory.canonicalize().ok()?;
    let is_above =
        |trusted: &&Setting<PathBuf>| trusted.value.canonicalize().is_ok_and(|trusted| directory.starts_with(trusted));
    user.values.of::<AccessKeys>().trusted.iter().find(is_above).map(|trusted| &trusted.origin)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use tools::Target;

    use super::*;
    use crate::config::reader;
    use crate::config::{Settings, Values};

    const TARGETS: [&str; 5] = ["fs:read:a", "fs:write:src/a", "fs:destroy:a", "clock:read:now", "net:write:host"];

    fn layer(text: &str) -> Layer {
        reader::layer(&Arc::from(Path::new("/p/toolcrib.toml")), text, Some(Path::new("/home/me"))).unwrap()
    }

    fn bounds() -> impl Strategy<Value = String> {
        let clause = prop::sample::select(vec!["fs:read:**", "fs:write:src/**", "*:*:**", "net:write:**", "fs:*:a"]);
        let clauses = prop::option::of(prop::collection::vec(clause, 0..3));
        let globs = prop::option::of(prop::sample::select(vec![r#"["fs.*"]"#, r#"["*"]"#]));
        let switch = prop::option::of(any::<bool>());
        let limits = (prop::option::of(1..100_u32), prop::option::of(1..100_u32));
        (clauses.clone(), clauses, globs, switch, limits).prop_map(|(grants, within, select, switch, limits)| {
            let mut text = String::new();
            grants.iter().for_each(|grants| text += &format!("grants = {grants:?}\n"));
            within.iter().for_each(|within| text += &format!("within = {within:?}\n"));
            select.iter().for_each(|select| text += &format!("select = {select}\n"));
            switch.iter().for_each(|switch| text += &format!("default_grants = {switch}\n"));
            limits.0.iter().for_each(|steps| text += &format!("limits.max_steps = {steps}\n"));
            limits.1.iter().for_each(|time| text += &format!("limits.call_timeout = \"{time}s\"\n"));
            text
        })
    }

    fn file(name: &'static str) -> impl Strategy<Value = String> {
        let word = |words: &[&'static str]| prop::option::of(prop::sample::select(words.to_vec()));
        let provider =
            (word(&["openai", "anthropic"]), word(&["m", "n"]), word(&["http://a", "http://b"]), word(&["K", "L"]));
        let profile = (word(&["both", "user", "project"]), prop::option::of(bounds()), prop::option::of(bounds()));
        (provider, bounds(), profile).prop_map(move |((provider, model, url, key), bounds, (chosen, both, own))| {
            let mut text = String::new();
            if let Some(provider) = provider {
                text += &format!("provider = {provider:?}\n");
                url.iter().for_each(|url| text += &format!("base_url = {url:?}\n"));
                key.iter().for_each(|key| text += &format!("key_env = {key:?}\n"));
                model.iter().for_each(|model| text += &format!("model = {model:?}\n"));
            }
            chosen.iter().for_each(|chosen| text += &format!("profile = {chosen:?}\n"));
            text += &bounds;
            both.iter().for_each(|both| text += &format!("[profiles.both]\n{both}"));
            own.iter().for_each(|own| text += &format!("[profiles.{name}]\n{own}"));
            text
        })
    }

    #[test]
    fn a_key_that_a_project_may_not_set_is_refused() {
        let keys = Values::keys();
        let refused: Vec<_> = keys.iter().filter(|key| key.project == "no").collect();
        assert!(refused.iter().any(|key| key.name == "timeouts.idle"), "{refused:?}");
        for key in refused {
            let example = if key.example.is_empty() { "'x'" } else { key.example };
            let refusal = check(&layer(&format!("{} = {example}", key.name)), &Layer::default(), "").unwrap_err();
            assert!(matches!(&refusal, SettingsError::Untrusted { key: name, .. } if name == key.name), "{refusal}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn an_untrusted_project_never_widens_what_the_user_says(user in file("user"), project in file("project")) {
            let settings = |files| Settings::from_layers(files, Values::default(), Values::default(), Vec::new());
            let alone = settings(vec![layer(&user)]);
            let is_let_in = check(&layer(&project), &layer(&user), "").is_ok();
            let with = settings(vec![layer(&user), layer(&project)]);
            if let (Ok(alone), Ok(with), true) = (alone, with, is_let_in) {
                for target in TARGETS.map(|target| target.parse::<Target>().unwrap()) {
                    prop_assert!(!with.grant().permits(&target) || alone.grant().permits(&target), "{target}");
                }
                prop_assert!(with.max_steps.value <= alone.max_steps.value);
                let time = |settings: &Settings| settings.call_timeout.as_ref().map(|setting| setting.value);
                prop_assert!(time(&with).is_none() || time(&alone).is_some_and(|most| time(&with) <= Some(most)));
                let value = |setting: &Option<Setting<String>>| setting.as_ref().map(|setting| setting.value.clone());
                prop_assert_eq!(value(&with.provider), value(&alone.provider));
                prop_assert_eq!(value(&with.model), value(&alone.model));
                prop_assert_eq!(value(&with.base_url), value(&alone.base_url));
                prop_assert_eq!(with.key().map(|key| key.value), alone.key().map(|key| key.value));
                prop_assert!(alone.select.is_none() || with.select.as_ref().map(|s| &s.value) == alone.select.as_ref().map(|s| &s.value));
            }
        }
    }
}

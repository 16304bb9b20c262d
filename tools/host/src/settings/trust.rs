//! The checks of an untrusted project file, since a checkout can come from anyone.
//!
//! Such a file may narrow the user's settings, and choose tools and a profile if the user's file does not. It may not grant
//! more, spend more, or redirect the user's key or prompts. The program's own default settings count as the user's.

use std::path::{Path, PathBuf};

use super::access::AccessKeys;
use super::error::SettingsError;
use super::origin::Origin;
use super::project::{CONTRADICTS, GRANTS, NARROWS};
use super::reader::Layer;
use super::values::Values;

/// Returns an error for the first setting that an untrusted project file may not have. `user` has the layers below it, and
/// `advice` says how to trust the file.
///
/// # Errors
/// Returns [`SettingsError::Untrusted`].
pub fn check(project: &Layer, user: &Layer, advice: &str) -> Result<(), SettingsError> {
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
    let profile = project.values.of::<AccessKeys>().profile.as_ref();
    let borrowed = profile.filter(|name| {
        // A profile of the user may grant more than the user wants in this project.
        !project.profiles.contains_key(&name.value) && user.profiles.contains_key(&name.value)
    });
    refuse(borrowed.map(|name| {
        (
            "choosing a profile of the user's file",
            &name.origin,
            GRANTS,
        )
    }))?;
    for (name, profile) in &project.profiles {
        // The user who names the profile expects their own.
        let is_taken = user.profiles.contains_key(name);
        refuse(is_taken.then_some((
            "redefining a profile of the user's file",
            &profile.origin,
            CONTRADICTS,
        )))?;
        refuse(profile.value.refusal(&user.values))?;
    }
    Ok(())
}

/// Returns the settings of a file, one on each line. Those that only an approved file may have come first.
pub(super) fn effects(layer: &Layer) -> Vec<String> {
    let all = rows("", &layer.values).into_iter().chain(
        layer
            .profiles
            .iter()
            .flat_map(|(name, profile)| rows(&format!("profile {name}: "), &profile.value)),
    );
    let (narrowing, others): (Vec<_>, Vec<_>) = all.partition(|(is_narrowing, _)| *is_narrowing);
    others
        .into_iter()
        .chain(narrowing)
        .map(|(_, line)| line)
        .collect()
}

/// Returns a line for each value that is set, and whether every project may set it.
fn rows(prefix: &str, values: &Values) -> Vec<(bool, String)> {
    let set = values.rows();
    let set = set.filter(|(_, _, origin)| *origin != Origin::Default);
    set.map(|(key, value, _)| {
        (
            key.project == NARROWS,
            format!("{prefix}{} = {value}", key.name),
        )
    })
    .collect()
}

/// Returns the origin of the user's entry that trusts this directory or one above it. Returns `None` if there is none. Links
/// are resolved on both sides, as far as the paths exist.
pub(super) fn trusts<'a>(user: &'a Layer, directory: &Path) -> Option<&'a Origin> {
    let directory = resolve(directory)?;
    let mut trusted = user.values.of::<AccessKeys>().trusted.iter();
    let found = trusted.find(|trusted| {
        resolve(&trusted.value).is_some_and(|trusted| directory.starts_with(trusted))
    });
    found.map(|trusted| &trusted.origin)
}

/// Returns the path without links, as far as it exists.
fn resolve(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|above| {
        let real = above.canonicalize().ok()?;
        Some(real.join(path.strip_prefix(above).ok()?))
    })
}

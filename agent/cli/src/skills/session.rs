//! The skills of a session: their service, their section of the system text, and the warnings about those that it does not have.

use std::any::TypeId;
use std::path::{Path, PathBuf};

use agent::ToolSet;
use tools::{Entry, Services, ToolContext};
use tools_builtin::skill::{Origin, Skills};

use super::{Library, Shelved, clash_text};
use crate::notice;
use crate::program;
use host::folders;

/// The maximum length of the section, in bytes, since every session sends it to the model.
const MAX_SECTION_BYTES: usize = 8 * 1024;

/// The maximum number of skills that are not used with a warning each.
const MAX_NAMED: usize = 3;

/// The tool without which the list of skills has no use.
const LOAD: &str = "skill.load";

/// The reasons for which a session has not all skills that were found.
struct LeftOut(Vec<String>);

/// Adds the skills of a session. A service that the program adds itself stays.
pub(crate) fn insert(services: &mut Services, library: &Library) {
    if services.get::<Skills>().is_some() {
        return;
    }
    let skills = library.service();
    services.insert(LeftOut(left_out(library, &skills)));
    let is_empty = skills.list().next().is_none() && skills.clashes().is_empty();
    if is_empty {
        services.insert_absent::<Skills>(absence(library));
    } else {
        services.insert(skills);
    }
}

/// Returns the reason for which a session has no skills. A model reads it, so it has no name that the project chose.
fn absence(library: &Library) -> String {
    let program = program::name();
    match library.skills.iter().any(|shelved| !shelved.is_trusted()) {
        false => {
            format!("there are no skills that this session may use; {program} skills lists all")
        }
        true => format!(
            "the skills of the project wait for approval, or cannot be used; ask the user to run {program} skills, which says why, \
             and {program} skills approve NAME"
        ),
    }
}

/// Returns the reasons for which a session does not have skills that were found. Many skills of a project share one.
fn left_out(library: &Library, skills: &Skills) -> Vec<String> {
    let of_project = library
        .skills
        .iter()
        .filter(|shelved| shelved.skill.origin() == Origin::Project);
    let waiting: Vec<_> = of_project.filter(|shelved| !shelved.is_trusted()).collect();
    let mut reasons: Vec<String> = match waiting.len() {
        0..=MAX_NAMED => {
            let reason = |shelved: &&Shelved| {
                format!(
                    "the skill {} of the project {}",
                    shelved.skill.name(),
                    shelved.standing_text()
                )
            };
            waiting.iter().map(reason).collect()
        }
        many => vec![format!(
            "{many} skills of the project are not used; {} skills says why",
            program::name()
        )],
    };
    reasons.extend(skills.clashes().iter().map(clash_text));
    reasons
}

/// Warns of the skills that a session does not have although they were found.
pub(crate) fn warn(cx: &ToolContext) {
    if let Some(left_out) = cx.service::<LeftOut>() {
        left_out
            .0
            .iter()
            .for_each(|warning| notice::warning(warning));
    }
}

/// Warns like [`warn`] if the tool uses skills.
pub(crate) fn warn_for(cx: &ToolContext, tool: &Entry) {
    if tool
        .needs()
        .iter()
        .any(|need| need.id() == TypeId::of::<Skills>())
    {
        warn(cx);
    }
}

/// Returns the section of the system text. Returns an empty text if there are no skills, or if the session cannot load them.
pub(crate) fn section(cx: &ToolContext, tools: &ToolSet) -> String {
    match cx.service::<Skills>() {
        Some(skills) if tools.contains(LOAD) => skills.section(MAX_SECTION_BYTES),
        _ => String::new(),
    }
}

/// Returns the folders of skills of the user, which tools must not change without a question, and everything in them. Other roots use a
/// skill of the user without an approval.
pub(crate) fn control_files(library: &Library, root: &Path) -> Vec<PathBuf> {
    let content = |folder: &Path| match folder.canonicalize() {
        Ok(real) if root.starts_with(&real) => root.join("**"),
        _ => folder.join("**"),
    };
    // No tool reaches the program's own folders, except by the links in them.
    let is_own = |path: &Path| {
        folders::own_folders().any(|own| path.starts_with(own))
            && !path.ancestors().any(Path::is_symlink)
    };
    let places = library.places().iter().filter(|place| !is_own(place));
    places
        .flat_map(|place| [content(place), place.clone()])
        .collect()
}

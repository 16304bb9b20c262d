//! The skills of a session: their service, their section of the system text, and the warnings about those that it does not have.

use std::any::TypeId;
use std::path::{Path, PathBuf};

use host::program;
use host::settings::{Settings, SettingsError};
use tools::{Entry, Services, ToolContext};

use crate::library::{Library, clash_text};
use crate::skill::Origin;
use crate::skills::Skills;

/// The maximum length of the section, in bytes, since every session sends it to the model.
const MAX_SECTION_BYTES: usize = 8 * 1024;

/// The maximum number of skills that are not used with a warning each.
const MAX_NAMED: usize = 3;

/// The tool without which the list of skills has no use.
const LOAD: &str = "skill.load";

/// The reasons for which a session has not all skills that were found.
struct LeftOut(Vec<String>);

/// Looks for the skills of a session. Returns the folders of the user's skills: other roots use one without an approval.
pub(crate) fn insert_library(settings: &Settings, services: &mut Services) -> Vec<PathBuf> {
    let Some(root) = settings.root().and_then(Path::to_str) else {
        return Vec::new();
    };
    let library = Library::load(root.to_owned(), !settings.ignores_project, settings);
    let places = library.places.to_vec();
    services.insert(library);
    places
}

/// Adds the skills of a session. A service that the program adds itself stays.
pub(crate) fn insert(_settings: &Settings, services: &mut Services) -> Result<(), SettingsError> {
    let (None, Some(library)) = (services.get::<Skills>(), services.get::<Library>()) else {
        return Ok(());
    };
    let skills = library.service();
    services.insert(LeftOut(left_out(&library, &skills)));
    let is_empty = skills.list().next().is_none() && skills.clashes.is_empty();
    if is_empty {
        services.insert_absent::<Skills>(absence(&library));
    } else {
        services.insert(skills);
    }
    Ok(())
}

/// Returns the reason for which a session has no skills. A model reads it, so it has no name that the project chose.
fn absence(library: &Library) -> String {
    let program = program::name();
    if library.skills.iter().any(|shelved| !shelved.is_trusted()) {
        format!(
            "the skills of the project wait for approval, or cannot be used; ask the user to run {program} skills, which says why, \
             and {program} skills approve NAME"
        )
    } else {
        format!("there are no skills that this session may use; {program} skills lists all")
    }
}

/// Returns the reasons for which a session does not have skills that were found. Many skills of a project share one.
fn left_out(library: &Library, skills: &Skills) -> Vec<String> {
    let of_project = library.skills.iter();
    let of_project = of_project.filter(|shelved| shelved.skill.origin == Origin::Project);
    let waiting: Vec<_> = of_project.filter(|shelved| !shelved.is_trusted()).collect();
    let mut reasons: Vec<String> = match waiting.len() {
        0..=MAX_NAMED => waiting
            .iter()
            .map(|shelved| {
                format!(
                    "the skill {} of the project {}",
                    shelved.skill.name,
                    shelved.standing_text()
                )
            })
            .collect(),
        many => vec![format!(
            "{many} skills of the project are not used; {} skills says why",
            program::name()
        )],
    };
    reasons.extend(skills.clashes.iter().map(clash_text));
    reasons
}

/// Returns the warnings about the skills that a session does not have although they were found. A tool that uses no skills has none.
pub(crate) fn warnings(cx: &ToolContext, tool: Option<&Entry>) -> Vec<String> {
    match cx.service::<LeftOut>() {
        Some(left_out) if tool.is_none_or(uses_skills) => left_out.0.clone(),
        _ => Vec::new(),
    }
}

fn uses_skills(tool: &Entry) -> bool {
    let mut needs = tool.needs().iter();
    needs.any(|need| need.id() == TypeId::of::<Skills>())
}

/// Returns the section of the system text. Returns an empty text if there are no skills, or if the session cannot load them.
pub(crate) fn section(cx: &ToolContext, has_tool: &dyn Fn(&str) -> bool) -> Result<String, String> {
    Ok(match cx.service::<Skills>() {
        Some(skills) if has_tool(LOAD) => skills.section(MAX_SECTION_BYTES),
        _ => String::new(),
    })
}

//! Folders of skills, and hosts that have them.

use tools_skill::{Discovery, Found, Origin, Skill, Skills};
use tools_testkit::{TempWorkspace, TestHost};

/// Returns the skills of a workspace.
pub(crate) fn found(workspace: &TempWorkspace) -> Found {
    Discovery {
        workspace: Some(workspace.path().into()),
        ..Discovery::default()
    }
    .find()
}

/// Returns the only skill of a workspace.
pub(crate) fn only(workspace: &TempWorkspace) -> Skill {
    let found = found(workspace);
    let [skill] = &found.skills[..] else {
        panic!("{:?} {:?}", found.skills, found.overlooked)
    };
    skill.clone()
}

/// Returns the skill as a person has approved it.
pub(crate) fn approved(skill: Skill) -> Skill {
    assert_eq!(skill.origin, Origin::Project);
    let contents = skill.contents().unwrap();
    skill.with_pinned(contents, "run crib approve")
}

/// Returns a host with these skills and the grant to read them.
pub(crate) fn host(skills: impl IntoIterator<Item = Skill>) -> TestHost {
    TestHost::new(tools_skill::register)
        .with_service(Skills::new(skills))
        .with_grant(&["skill:read:**"])
}

/// Returns a workspace with one skill, made of files.
pub(crate) fn workspace(files: &[(&str, &str)]) -> TempWorkspace {
    TempWorkspace::from_files(
        files
            .iter()
            .map(|(path, text)| (format!(".agents/skills/{path}"), text)),
    )
}

//! The lines and findings of `doctor` on skills.

use super::{Library, clash_text};
use tools::counted;

/// Returns a line on the number of skills, and one on each skill of the project.
pub(crate) fn report(library: &Library) -> Vec<String> {
    let ready = library.service().list().count() as u64;
    let mut lines = vec![match library.skills.len() {
        0 => "skills: none; put folders with a SKILL.md below .agents/skills of the project or of your home".to_owned(),
        all => format!("skills: {} ready of {all}", counted(ready, "skill")),
    }];
    for shelved in &library.skills {
        if shelved.skill.origin() == tools_builtin::skill::Origin::Project {
            lines.push(format!(
                "skill {} (of the project): {}",
                shelved.skill.name(),
                shelved.standing_text()
            ));
        }
    }
    lines
}

/// Returns the faults of skills, the names that several have, and the places that look like skills and are none.
pub(crate) fn findings(library: &Library) -> Vec<String> {
    let faults = library.skills.iter().flat_map(|shelved| {
        let skill = &shelved.skill;
        skill
            .faults()
            .iter()
            .map(move |fault| format!("{}: {fault}", skill.path().display()))
    });
    let overlooked = library.overlooked.iter().cloned();
    let service = library.service();
    faults
        .chain(overlooked)
        .chain(service.clashes().iter().map(clash_text))
        .collect()
}

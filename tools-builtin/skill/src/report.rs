//! The lines and findings of `doctor` on skills.

use host::{FamilyReport, Finding};
use tools::{Services, counted};

use crate::Origin;
use crate::library::{Library, clash_text};

/// Returns a line on the number of skills, and one on each skill of the project; the faults of skills, the names that several have, and
/// the places that look like skills and are none.
pub(crate) fn report(services: Option<&Services>) -> FamilyReport {
    let mut report = FamilyReport::default();
    let Some(library) = services.and_then(Services::get::<Library>) else {
        return report;
    };
    let service = library.service();
    let ready = service.list().count() as u64;
    report.lines.push(match library.skills.len() {
        0 => "skills: none; put folders with a SKILL.md below .agents/skills of the project or of your home".to_owned(),
        all => format!("skills: {} ready of {all}", counted(ready, "skill")),
    });
    for shelved in &library.skills {
        if shelved.skill.origin() == Origin::Project {
            report.lines.push(format!(
                "skill {} (of the project): {}",
                shelved.skill.name(),
                shelved.standing_text()
            ));
        }
    }
    let faults = library.skills.iter().flat_map(|shelved| {
        let skill = &shelved.skill;
        skill
            .faults()
            .iter()
            .map(move |fault| format!("{}: {fault}", skill.path().display()))
    });
    report.findings = faults
        .chain(library.overlooked.iter().cloned())
        .chain(service.clashes().iter().map(clash_text))
        .map(|fault| Finding::new("skill", fault))
        .collect();
    report
}

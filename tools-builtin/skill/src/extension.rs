//! The skills of the user and of the project: how the family joins a program.

use host::{Extension, FamilyReport, Finding, Parts, inventory};
use tools::{Services, counted, source};

use crate::command::SKILLS;
use crate::library::{Library, clash_text};
use crate::session;
use crate::settings::SkillKeys;
use crate::skill::Origin;

inventory::submit! {
    Extension::new("skill", source!(), Parts {
        default_grants: &["skill:read:**"],
        keys: || vec![Box::new(SkillKeys::default())],
        control_folders: session::insert_library,
        services: session::insert,
        warnings: session::warnings,
        report: Some(|_, services| Box::pin(async move { Ok(report(services)) })),
        section: Some(("skills", session::section)),
        commands: &[SKILLS],
        ..Parts::NONE
    })
}

/// Returns a line on the number of skills, and one on each skill of the project; the faults of skills, the names that several have, and
/// the places that look like skills and are none.
fn report(services: Option<&Services>) -> FamilyReport {
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
        if shelved.skill.origin == Origin::Project {
            report.lines.push(format!(
                "skill {} (of the project): {}",
                shelved.skill.name,
                shelved.standing_text()
            ));
        }
    }
    let faults = library.skills.iter().flat_map(|shelved| {
        let skill = &shelved.skill;
        skill
            .faults
            .iter()
            .map(move |fault| format!("{}: {fault}", skill.path.display()))
    });
    report.findings = faults
        .chain(library.overlooked.iter().cloned())
        .chain(service.clashes.iter().map(clash_text))
        .map(|fault| Finding::new("skill", fault).with_fix("skills"))
        .collect();
    report
}

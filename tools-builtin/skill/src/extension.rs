//! The skills of the user and of the project: how the family joins a program.

use host::{Extension, Parts, inventory};
use tools::source;

use crate::command::SKILLS;
use crate::settings::SkillKeys;
use crate::{report, session};

inventory::submit! {
    Extension::new("skill", source!(), Parts {
        default_grants: &["skill:read:**"],
        keys: || vec![Box::new(SkillKeys::default())],
        control_folders: session::insert_library,
        services: session::insert,
        warnings: session::warnings,
        report: Some(|_, services| Box::pin(async move { Ok(report::report(services)) })),
        section: Some(("skills", session::section)),
        commands: &[SKILLS],
        ..Parts::NONE
    })
}

//! The skills of the user and of the project: how the family joins a program.

use host::{Extension, inventory};
use tools::source;

use crate::command::SKILLS;
use crate::settings::SkillKeys;
use crate::{report, session};

inventory::submit! {
    Extension::new("skill", source!())
        .with_default_grants(&["skill:read:**"])
        .with_keys(|| vec![Box::new(SkillKeys::default())])
        .with_control_folders(session::insert_library)
        .with_services(&[], session::insert)
        .with_warnings(session::warnings)
        .with_report(|_, services| Box::pin(async move { Ok(report::report(services)) }))
        .with_section("skills", session::section)
        .with_commands(&[SKILLS])
}

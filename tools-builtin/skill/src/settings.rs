//! [`SkillKeys`]: the settings of skills.

use std::path::PathBuf;

use host::declare_keys;
use host::settings::{INSTRUCTS, Key, ProjectRule, Setting, directory, items};

declare_keys! {
    /// The keys of skills.
    pub struct SkillKeys;

    /// More folders of skills, with those below; a folder in the workspace is one of the project
    pub folders: Vec<Setting<PathBuf>> = Key::new("skills.folders", items(directory), Vec::new(), r#"["~/skills"]"#)
        .with_project(ProjectRule::never(INSTRUCTS));
}

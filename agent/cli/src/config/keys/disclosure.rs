//! The keys of the tools that requests offer: the table `[disclosure]`.

use agent::DisclosureBudget;

use super::super::disclosure_mode::DisclosureMode;
use super::super::parser::{disclosure, glob};
use host::declare_keys;
use host::settings::FlagValue::Named;
use host::settings::{Key, ProjectRule, SPENDS, Setting, integer, printed, replaced};

declare_keys! {
    /// The values of the keys about the tools that requests offer.
    pub(crate) struct DisclosureKeys;

    /// The tools whose definitions requests have: all, search (those of disclosure.always; the model finds and calls the others), or auto (all of them within the limits below, else search)
    pub(crate) mode: Setting<DisclosureMode> =
        Key::new("disclosure.mode", printed(disclosure), Setting::from_default(DisclosureMode::Auto), "\"auto\"")
            .with_session_flag("--disclosure", Named("MODE"))
            .with_project(ProjectRule::never(SPENDS));

    /// The tools that a search offers in any case, by name, such as 'fs.*'
    pub(crate) always: Option<Setting<Vec<String>>> = Key::new("disclosure.always", replaced(glob), None, r#"["fs.*", "user.ask"]"#)
        .with_project(ProjectRule::never(SPENDS));

    /// The most tools that auto offers without a search
    pub(crate) tools: Setting<u32> = Key::new("disclosure.tools", integer::<0, _>(), Setting::from_default(most_tools()), "64")
        .with_project(ProjectRule::never(SPENDS));
}

fn most_tools() -> u32 {
    u32::try_from(DisclosureBudget::default().tools).unwrap_or(u32::MAX)
}

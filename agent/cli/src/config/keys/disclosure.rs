//! The keys of the tools that requests offer: the table `[disclosure]`.

use agent::DisclosureBudget;

use super::super::disclosure_mode::DisclosureMode;
use super::super::parser::{disclosure, glob};
use host::declare_keys;
use host::settings::FlagValue::Named;
use host::settings::{Key, ProjectRule, SPENDS, Setting, integer, percent, printed, replaced};

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

    /// The most tokens of definitions that auto offers without a search, in percent of the model's context
    pub(crate) context_percent: Setting<u32> =
        Key::new("disclosure.context_percent", percent(), Setting::from_default(most_percent()), "10")
            .with_project(ProjectRule::never(SPENDS));

    /// The most tokens of the result of a search
    pub(crate) search_tokens: Setting<u32> =
        Key::new("disclosure.search_tokens", integer::<100, _>(), Setting::from_default(most_tokens()), "4000")
            .with_project(ProjectRule::never(SPENDS));

    /// The number of model turns after which a found tool is forgotten
    pub(crate) found_turns: Setting<u32> = Key::new(
        "disclosure.found_turns",
        integer::<1, _>(),
        Setting::from_default(DisclosureBudget::default().found_turns.get()),
        "20",
    )
    .with_project(ProjectRule::never(SPENDS));
}

fn most_tools() -> u32 {
    u32::try_from(DisclosureBudget::default().tools).unwrap_or(u32::MAX)
}

fn most_percent() -> u32 {
    DisclosureBudget::default().context_percent.into()
}

fn most_tokens() -> u32 {
    u32::try_from(DisclosureBudget::default().search_tokens).unwrap_or(u32::MAX)
}

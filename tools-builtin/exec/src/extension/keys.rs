//! The keys of the sandbox.

use host::declare_keys;
use host::settings::{Base, Key, ProjectRule, RUNS, Setting, boolean, items};

use crate::toolchain::Toolchain;

declare_keys! {
    /// The keys of the sandbox.
    pub(crate) struct SandboxKeys;

    /// The toolchains that programs may use outside of the workspace: rust, node or python
    pub(crate) toolchains: Vec<Setting<String>> = Key::new("programs.toolchains", items(toolchain), Vec::new(), r#"["rust"]"#)
        .with_project(ProjectRule::never(RUNS));

    /// Run programs without walls on a machine that cannot confine them; they can then read and change everything
    pub(crate) unconfined: Setting<bool> =
        Key::new("programs.unconfined", boolean(), Setting::from_default(false), "true")
            .with_project(ProjectRule::never(RUNS));
}

fn toolchain(text: &str, _: Base<'_>) -> Result<String, String> {
    text.parse::<Toolchain>()
        .map(|toolchain| toolchain.name().to_owned())
        .map_err(|error| format!("is invalid: {error}"))
}

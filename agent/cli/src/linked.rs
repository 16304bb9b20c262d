//! The linked crates.

use host::Extension;
use tools::linked::{self, LookupError, NotLinked};

tools::link!(agent_authoring, tools_authorship);

#[cfg(feature = "builtin")]
tools::link!(tools_builtin);

#[cfg(feature = "default")]
tools::link!(agent_acp, agent_models, agent_sessions, agent_telemetry);

#[cfg(feature = "default")]
tools::link!(tools_mcp_host);

/// Returns the build that links a provider, or `None` if none does.
pub(crate) fn how_to_link(provider: &str) -> Option<&'static str> {
    let is_omitted = !cfg!(feature = "default") && ["openai", "anthropic"].contains(&provider);
    is_omitted.then_some(
        "this program was built without model providers; rebuild it with its default features",
    )
}

/// Returns the number of linked tools that cannot be used, if there are any.
pub(crate) fn unusable() -> Option<u64> {
    let count = tools::conflicts().len() + tools::problems().len();
    (count > 0).then_some(count as u64)
}

/// Checks that the crates of the build are linked: the linker drops unused crates silently.
pub(crate) fn check() -> Result<(), NotLinked> {
    tools::expect_linked!("toolcrib-agent")?;
    #[cfg(feature = "builtin")]
    for package in tools_builtin::PACKAGES {
        tools::expect_linked!(package)?;
    }
    Ok(())
}

/// Checks that no two families have one name. Both are left out then, and what one of them protects would not be protected.
pub(crate) fn check_families() -> Result<(), LookupError> {
    let conflict = linked::conflicts::<Extension>().into_iter().next();
    conflict.map_or(Ok(()), |conflict| Err(LookupError::Conflict(conflict)))
}

//! The linked crates, which only the package's features decide.

#[cfg(feature = "builtin")]
tools::link!(tools_builtin);

#[cfg(feature = "models")]
tools::link!(agent_rig);

/// Returns the build option that links a provider, or `None` if no feature brings it.
pub(crate) fn how_to_link(provider: &str) -> Option<&'static str> {
    let is_omitted = !cfg!(feature = "models") && ["openai", "anthropic"].contains(&provider);
    is_omitted.then_some(
        "this program was built without model providers; rebuild it with --features models",
    )
}

/// Returns the number of linked tools that cannot be used, if there are any.
pub(crate) fn unusable() -> Option<u64> {
    let count = tools::conflicts().len() + tools::problems().len();
    (count > 0).then_some(count as u64)
}

/// Checks that the crates of the enabled features are linked: the linker drops unused crates silently.
pub(crate) fn check() -> Result<(), tools::linked::NotLinked> {
    tools::expect_linked!("toolcrib-agent")?;
    #[cfg(feature = "builtin")]
    tools::expect_linked!("toolcrib-fs", "toolcrib-time")?;
    #[cfg(feature = "memory")]
    tools::expect_linked!("toolcrib-memory")?;
    #[cfg(feature = "skill")]
    tools::expect_linked!("toolcrib-skill")?;
    #[cfg(feature = "tts")]
    tools::expect_linked!("toolcrib-tts")?;
    #[cfg(feature = "cron")]
    tools::expect_linked!("toolcrib-cron")?;
    #[cfg(feature = "web")]
    tools::expect_linked!("toolcrib-message", "toolcrib-weather", "toolcrib-web")?;
    Ok(())
}

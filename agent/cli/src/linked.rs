//! What is linked into the program. Its features decide, and nothing else does.

#[cfg(feature = "builtin")]
tools::link!(tools_builtin);

#[cfg(feature = "models")]
tools::link!(agent_rig);

/// What to do about a provider that is not linked.
pub(crate) fn how_to_link(provider: &str) -> Option<&'static str> {
    let is_left_out = !cfg!(feature = "models") && ["openai", "anthropic"].contains(&provider);
    is_left_out.then_some("this program was built without models; build it with --features models")
}

/// The environment variable in which a provider usually finds its key.
pub(crate) fn key_variable(provider: &str) -> Option<&'static str> {
    match provider {
        "openai" => Some("OPENAI_API_KEY"),
        "anthropic" => Some("ANTHROPIC_API_KEY"),
        _ => None,
    }
}

/// Whether everything that the features ask for has arrived. The linker drops silently what it believes to be unused.
pub(crate) fn check() -> Result<(), tools::NotLinked> {
    tools::expect_linked!("toolcrib-agent")?;
    #[cfg(feature = "builtin")]
    tools::expect_linked!("toolcrib-fs", "toolcrib-time")?;
    Ok(())
}

//! What is linked into the program. Its features decide, and nothing else does.

#[cfg(feature = "builtin")]
tools::link!(tools_builtin);

#[cfg(feature = "models")]
tools::link!(agent_rig);

/// Whether everything that the features ask for has arrived. The linker drops silently what it believes to be unused.
pub(crate) fn check() -> Result<(), tools::NotLinked> {
    #[cfg(feature = "builtin")]
    tools::expect_linked!("toolcrib-fs", "toolcrib-time")?;
    Ok(())
}

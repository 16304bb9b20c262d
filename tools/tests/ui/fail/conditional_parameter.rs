use tools::tool;

/// Does nothing.
#[tool(pure)]
fn nothing(
    /// Sometimes there.
    #[cfg(unix)]
    mode: u32,
) {
    let _ = mode;
}

fn main() {}

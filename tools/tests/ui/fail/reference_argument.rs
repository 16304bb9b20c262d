use tools::tool;

/// Joins texts.
#[tool(pure)]
fn join(
    /// The texts.
    texts: &[String],
    /// What stands between them.
    separator: &str,
    /// What stands after them.
    end: Option<&'static str>,
) -> String {
    texts.join(separator) + end.unwrap_or_default()
}

fn main() {}

use tools::tool;

/// Does nothing.
#[tool(pure)]
fn conditional_parameter(
    /// Sometimes there.
    #[cfg(unix)]
    mode: u32,
) {
    let _ = mode;
}

/// Shows a thing.
#[tool(pure)]
fn impl_trait(
    /// The thing.
    thing: impl ToString,
) -> String {
    thing.to_string()
}

/// Adds.
#[tool(pure)]
fn missing_parameter_doc(a: i64, /** The other. */ b: i64) -> i64 {
    a + b
}

/// Adds.
#[tool(pure)]
fn pattern_argument(
    /// Both.
    (a, b): (i64, i64),
) -> i64 {
    a + b
}

/// Joins texts.
#[tool(pure)]
fn reference_argument(
    /// The texts.
    texts: &[String],
    /// The text between them.
    separator: &str,
    /// The text after them.
    end: Option<&'static str>,
) -> String {
    texts.join(separator) + end.unwrap_or_default()
}

/// Does nothing.
#[tool(pure)]
fn mutable_context(cx: &mut tools::ToolContext) {
    drop(cx.clone());
}

/// Does nothing.
#[tool(pure)]
fn serde_on_the_context(#[serde(default)] _cx: &tools::ToolContext) {}

/// Does nothing.
#[tool(pure)]
fn two_contexts(_a: &tools::ToolContext, _b: tools::ToolContext) {}

#[derive(serde::Deserialize, tools::JsonSchema)]
#[schemars(crate = "tools::schemars")]
struct Search {}

/// Searches.
#[tool(pure)]
fn args_and_parameters(
    #[args] search: Search,
    /// How many.
    limit: u32,
    #[args] again: Search,
) {
    drop((search, limit, again));
}

fn main() {}

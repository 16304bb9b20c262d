use tools::tool;

/// Does nothing.
#[tool(pure, tiemout = "30s", colour = "red")]
fn nothing() {}

fn main() {}

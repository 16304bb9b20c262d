use tools::tool;

/// Does nothing.
#[tool(pure, blocking)]
async fn nothing() {}

fn main() {}

use tools::tool;

#[tool(pure)]
fn now() -> String {
    String::new()
}

fn main() {}

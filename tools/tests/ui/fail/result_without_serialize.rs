use tools::tool;

struct Thing;

/// Makes a thing.
#[tool(pure)]
fn thing() -> Thing {
    Thing
}

/// Tries to make a thing.
#[tool(pure)]
async fn other() -> Result<Thing, String> {
    Ok(Thing)
}

fn main() {}

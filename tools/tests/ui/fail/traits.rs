use tools::tool;

struct Search {}

/// Searches.
#[tool(pure)]
fn search(#[args] search: Search) {
    drop(search);
}

struct Failure;

/// Fails.
#[tool(pure)]
fn fails() -> Result<u8, Failure> {
    Err(Failure)
}

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

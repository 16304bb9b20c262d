use tools::tool;

struct Search {}

/// Searches.
#[tool(pure)]
fn search(#[args] search: Search) {
    drop(search);
}

fn main() {}

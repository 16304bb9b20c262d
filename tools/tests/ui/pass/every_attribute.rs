//! Each attribute there is, on one tool or the other.
#![forbid(unsafe_code)]

use tools::tool;

mod service {
    pub struct Root;
    pub struct Client<T>(pub T);
}

/// Reads a page into a file.
#[tool(
    name = "web.save",
    title = "Save a page",
    reads = "net:{url|host}",
    writes = ["fs:{path}", "fs:log/{path}.txt"],
    destroys = "cache:{url|host}/{{all}}",
    reads = "fs:settings.json",
    open_world,
    idempotent,
    timeout = "2m",
    max_output = "64KiB",
    tags = ["web", "files"],
    needs(service::Root, service::Client<u8>),
    example({"url": "https://example.org", "path": "a"} => "ok"),
    example({"url": "https://example.org", "path": "b"}),
    audit,
    crate = ::tools,
)]
fn save(
    /// The page.
    url: String,
    /// The file.
    path: String,
) -> String {
    url + &path
}

/// Computes for a long time.
#[tool(pure, blocking, needs = service::Root, max_output = 1_000, timeout = "500ms")]
fn compute() -> u64 {
    42
}

fn main() {
    let mut catalog = tools::Catalog::new();
    catalog.submit(&[&SAVE_TOOL, &COMPUTE_TOOL]).unwrap();
}

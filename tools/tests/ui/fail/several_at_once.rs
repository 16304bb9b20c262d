use tools::tool;

#[tool(timeout = "soon")]
fn read(path: &str) -> String {
    path.to_owned()
}

fn main() {
    read("a");
    tools::Catalog::new().submit(&[&READ_TOOL]).unwrap();
}

//! Links that lead elsewhere where they are moved to.

use serde_json::json;

use crate::sensitive::{Bench, concern};

#[tokio::test]
async fn a_link_that_would_lead_elsewhere_at_its_new_path_is_not_moved_unasked() {
    let bench = Bench::new(&["*:*:**", "fs:write:named"]);
    let link = |target: &str, path: &str| {
        std::fs::create_dir_all(bench.root().join(path).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, bench.root().join(path)).unwrap();
    };
    bench.put("src/other/notes", "");
    bench.put("node/a", "");
    bench.put("build/a", "");
    link("/etc/../tmp/x", "target/named");
    link("/tmp/none/x", "target/k");
    link("/tmp/none/x", "target/logs/deep/k");
    link("../../other/notes", "src/d1/d2/k");
    link("../notes", "target/t");
    link("../target/t", "src/c");
    link("src/other/notes", "inside");
    for (from, to, asked) in [
        ("target/k", "k", "k"),
        ("target/logs", "logs", "logs/deep/k"),
        ("src/d1/d2/k", "src/k", "src/k"),
        ("src/c", "src/c2", "src/c2"),
        ("inside", "node/u", ""),
        ("target/k", "build/k", ""),
        ("target/named", "named", ""),
        ("src/d1", "src/d3", ""),
    ] {
        let moved = bench.call("fs.move", json!({"from": from, "to": to})).await;
        if asked.is_empty() {
            moved.unwrap();
        } else {
            assert_eq!(concern(moved), format!("fs:write:{asked}"), "{from}");
        }
    }
}

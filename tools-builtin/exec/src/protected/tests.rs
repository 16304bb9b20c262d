use tools::policy::SensitivePaths;

use super::*;

#[test]
fn a_workspace_with_too_many_entries_or_too_deep_ones_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("AGENTS.md"), "").unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let tree = Tree {
        path: ".".to_owned(),
        is_tree: true,
    };
    let look = Look {
        judge: Judge::strict(SensitivePaths::default()),
        root: folder.path().to_owned(),
        trees: vec![tree],
        is_kept: false,
        skipped: Vec::new(),
        may_redirect: false,
    };
    assert_eq!(look.find_among(3, None).unwrap().found.len(), 1);
    assert!(
        look.find_among(2, None)
            .unwrap_err()
            .to_string()
            .contains("narrow the grant")
    );
    for (depth, is_fine) in [(MAX_DEPTH, true), (MAX_DEPTH + 1, false)] {
        fs::create_dir_all(folder.path().join(vec!["d"; depth].join("/"))).unwrap();
        assert_eq!(look.find().is_ok(), is_fine, "{depth}");
    }
}

//! Compares the indexed lookup with one that tries each pattern of the table.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::*;

/// Returns the entries that match a path, by trying each pattern at each depth.
fn tried<'a>(paths: &'a SensitivePaths, least: Sensitivity, path: &str) -> Vec<&'a SensitivePath> {
    let names = pattern::names(path);
    let depth = |entry: &SensitivePath| {
        (0..names.len()).find(|depth| pattern::find_at(&entry.pattern, &names, *depth).is_some())
    };
    let matching = paths
        .paths
        .iter()
        .filter_map(|entry| Some((entry, depth(entry)?)));
    let dot_file = first_unknown(paths, &names).map(|depth| (dot_name::entry(), depth));
    let mut matching: Vec<_> = matching
        .chain(dot_file)
        .filter(|(entry, _)| entry.sensitivity >= least)
        .collect();
    matching
        .sort_by_key(|(entry, depth)| (Reverse(entry.sensitivity), *depth, !entry.is_whole(path)));
    let is_in_git = matching
        .iter()
        .any(|(entry, _)| table::is_folder_of_git(entry));
    matching.retain(|(entry, _)| !is_in_git || !table::is_head(entry));
    matching.into_iter().map(|(entry, _)| entry).collect()
}

/// Returns the number of names before the first unknown one with a dot that no match covers.
fn first_unknown(paths: &SensitivePaths, names: &[&str]) -> Option<usize> {
    let is_covered = |at: usize| {
        let covers = |entry: &SensitivePath, begin: usize| {
            let is_near = at - begin < pattern::count_names(&entry.pattern);
            is_near && pattern::find_at(&entry.pattern, names, begin).is_some()
        };
        paths
            .paths
            .iter()
            .any(|entry| (0..=at).any(|begin| covers(entry, begin)))
    };
    (0..names.len()).find(|at| dot_name::is_unknown(names[*at]) && !is_covered(*at))
}

/// The built-in table with entries of a host: from the root, with wildcards alone, and of each kind.
fn paths() -> SensitivePaths {
    let own = [
        ("/conf/rules.toml", Sensitivity::Settings),
        ("/.own/**", Sensitivity::RunsByItself),
        ("/*x*/b", Sensitivity::RunsByItself),
        ("*/deploy/*.yaml", Sensitivity::BuildFile),
        ("*", Sensitivity::BuildFile),
        (".secret", Sensitivity::DotFile),
    ];
    let own = own
        .map(|(pattern, sensitivity)| SensitivePath::new(pattern, sensitivity, "theirs").unwrap());
    SensitivePaths::default().with_paths(own)
}

/// Names of the table, parts and variants of them, and others.
fn name(paths: &SensitivePaths) -> impl Strategy<Value = String> + use<> {
    let segments = paths
        .paths
        .iter()
        .flat_map(|entry| entry.pattern.split('/'));
    let segments: Vec<String> = segments
        .filter(|segment| !segment.is_empty())
        .map(str::to_owned)
        .collect();
    let others = [
        "x",
        "src",
        "conf",
        "deploy",
        "a.yaml",
        "é",
        ".",
        "..",
        ".gitignore",
        ".unheard-of",
        "",
        "K",
    ];
    let segment = select(segments);
    let filled = (segment.clone(), "[a-zA-Zé.]{0,3}")
        .prop_map(|(segment, text)| segment.replace('*', &text));
    let flipped = (filled.clone(), any::<u64>()).prop_map(|(name, upper)| {
        let flip = |(at, c): (usize, char)| match upper >> (at % 64) & 1 {
            1 => c.to_ascii_uppercase(),
            _ => c.to_ascii_lowercase(),
        };
        name.char_indices().map(flip).collect::<String>()
    });
    let cut = (filled.clone(), 0_usize..20)
        .prop_map(|(name, length)| name.chars().take(length).collect::<String>());
    prop_oneof![
        4 => filled.clone(),
        2 => flipped,
        1 => cut,
        1 => (filled, "[a-z.]{1,2}").prop_map(|(name, more)| name + &more),
        1 => segment,
        2 => select(others.map(str::to_owned).to_vec()),
        1 => "[.a-zA-Zé~-]{1,8}",
    ]
}

/// Paths of such names, and whole patterns of the table below them.
fn path(paths: &SensitivePaths) -> impl Strategy<Value = String> + use<> {
    let patterns = paths.paths.iter().map(|entry| {
        entry
            .pattern
            .trim_start_matches('/')
            .replace("**", "deep/er")
    });
    let patterns: Vec<String> = patterns
        .map(|pattern| pattern.replace('*', "any"))
        .collect();
    let names = || prop::collection::vec(name(paths), 0..4).prop_map(|names| names.join("/"));
    prop_oneof![
        3 => prop::collection::vec(name(paths), 1..6).prop_map(|names| names.join("/")),
        2 => (names(), select(patterns.clone()), names()).prop_map(|(above, path, below)| format!("{above}/{path}/{below}")),
        1 => select(patterns),
    ]
}

fn compare(count: u32) {
    let own = paths();
    let built_in = SensitivePaths::default();
    let levels = [
        Sensitivity::BuildFile,
        Sensitivity::DotFile,
        Sensitivity::RunsByItself,
        Sensitivity::Settings,
    ];
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let path = path(&own);
    let mut sensitive = 0;
    for round in 0..count {
        let path = path.new_tree(&mut runner).unwrap().current();
        for table in [&own, &built_in] {
            let least = levels[round as usize % levels.len()];
            let found: Vec<_> = table.matching(least, &path).collect();
            assert_eq!(found, tried(table, least, &path), "{path:?} {least:?}");
        }
        sensitive += u32::from(built_in.find(&path).is_some());
    }
    assert!(
        (count / 4..count).contains(&sensitive),
        "{sensitive} of {count} are sensitive"
    );
}

#[test]
fn the_index_finds_the_entries_that_a_look_at_each_pattern_finds() {
    compare(1_500);
}

#[test]
#[ignore = "takes minutes"]
fn a_million_paths_have_the_entries_that_a_look_at_each_pattern_finds() {
    compare(1_000_000);
}

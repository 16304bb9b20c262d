//! Link-time registration. The tools of the families are named nowhere here, so only the facade can have linked them. CI runs this binary
//! in debug, and with `--profile release-lto`.

use tools_builtin as _;

use tools_testkit::HouseRules;

const NAMES: &str = include_str!("names.txt");

#[test]
fn linked_tools_match_the_golden_list() {
    let entries = tools::list();
    let linked: Vec<&str> = entries.iter().map(|entry| entry.name().as_str()).collect();
    let is_enabled = |name: &&str| {
        let family = name.split('.').next().unwrap();
        tools_builtin::PACKAGES.contains(&&*format!("toolcrib-{family}"))
    };
    let declared = NAMES.lines().filter(is_enabled);
    assert_eq!(
        linked,
        declared.collect::<Vec<_>>(),
        "write a new tool down in tests/names.txt"
    );
    assert_eq!(tools::conflicts(), []);
    assert!(tools::problems().is_empty(), "{:?}", tools::problems());
}

#[test]
fn every_crate_contributes() {
    for package in tools_builtin::PACKAGES {
        tools::expect_linked!(package).unwrap();
        tools::expect_linked!(&*package.replace("toolcrib", "tools")).unwrap();
    }
    // Neither a package nor a library.
    let missing = tools::expect_linked!("tools_fs", "toolcrib-tools-fs").unwrap_err();
    assert_eq!(missing.missing, ["toolcrib-tools-fs"]);
}

#[test]
fn every_tool_keeps_the_house_rules() {
    HouseRules::new().assert(tools::snapshot());
}

#[test]
fn every_tool_has_a_title_and_a_tag() {
    for entry in tools::list() {
        assert!(
            entry.tool().title.is_some() && !entry.tool().tags.is_empty(),
            "{}",
            entry.name()
        );
    }
}

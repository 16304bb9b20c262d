//! Link-time registration. The tools of the families are named nowhere here, so only the facade can have linked them. CI runs this binary
//! in debug, and with `--profile release-lto`.

use tools_builtin as _;

use tools_testkit::HouseRules;

/// Returns the tools that the table of the README names for the linked packages, sorted.
fn declared() -> Vec<&'static str> {
    let mut names = Vec::new();
    for row in include_str!("../README.md").lines() {
        let columns: Vec<_> = row.split(" | ").collect();
        if let [_, package, tools, _] = *columns
            && tools_builtin::PACKAGES.contains(&package.trim_matches('`'))
        {
            names.extend(tools.split('`').skip(1).step_by(2));
        }
    }
    names.sort_unstable();
    names
}

#[test]
fn linked_tools_are_those_of_the_readme() {
    let entries = tools::list();
    let linked: Vec<&str> = entries.iter().map(|entry| entry.name().as_str()).collect();
    assert_eq!(
        linked,
        declared(),
        "write a new tool down in the table of README.md"
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

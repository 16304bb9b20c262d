//! Link-time registration. Only the next line names the facade, so nothing else can have linked the tools. CI runs this binary in
//! debug, and with `--profile release-lto`.

use tools_builtin as _;

use tools_testkit::HouseRules;

const NAMES: &str = include_str!("names.txt");

#[test]
fn linked_tools_match_the_golden_list() {
    let entries = tools::list();
    let linked: Vec<&str> = entries.iter().map(|entry| entry.name().as_str()).collect();
    let is_enabled = |name: &&str| match name.split_once('.') {
        Some(("cron", _)) => cfg!(feature = "cron"),
        Some(("exec", _)) => cfg!(feature = "exec"),
        Some(("fs", _)) => cfg!(feature = "fs"),
        Some(("memory", _)) => cfg!(feature = "memory"),
        Some(("message", _)) => cfg!(feature = "message"),
        Some(("skill", _)) => cfg!(feature = "skill"),
        Some(("tts", _)) => cfg!(feature = "tts"),
        Some(("weather", _)) => cfg!(feature = "weather"),
        Some(("web", _)) => cfg!(feature = "web"),
        _ => true,
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
    if cfg!(feature = "cron") {
        tools::expect_linked!("toolcrib-cron", "tools_cron").unwrap();
    }
    if cfg!(feature = "exec") {
        tools::expect_linked!("toolcrib-exec", "tools_exec").unwrap();
    }
    if cfg!(feature = "fs") {
        tools::expect_linked!("toolcrib-fs", "tools_fs").unwrap();
    }
    if cfg!(feature = "memory") {
        tools::expect_linked!("toolcrib-memory", "tools_memory").unwrap();
    }
    if cfg!(feature = "message") {
        tools::expect_linked!("toolcrib-message", "tools_message").unwrap();
    }
    if cfg!(feature = "skill") {
        tools::expect_linked!("toolcrib-skill", "tools_skill").unwrap();
    }
    if cfg!(feature = "tts") {
        tools::expect_linked!("toolcrib-tts", "tools_tts").unwrap();
    }
    if cfg!(feature = "weather") {
        tools::expect_linked!("toolcrib-weather", "tools_weather").unwrap();
    }
    if cfg!(feature = "web") {
        tools::expect_linked!("toolcrib-web", "tools_web").unwrap();
    }
    tools::expect_linked!("toolcrib-time", "tools_time").unwrap();
    // Neither a package nor a library.
    let missing = tools::expect_linked!("tools_time", "toolcrib-tools-fs").unwrap_err();
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

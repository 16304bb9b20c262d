//! No target of a URL-like scheme has a segment that a URL parser resolves to `.` or `..`.

use percent_encoding::percent_decode;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use protocol::{Access, Grant, InvalidTarget, Target};

use crate::sample::config;

/// Returns values made of dot segments and similar pieces.
fn value() -> impl Strategy<Value = String> {
    let pieces = vec![
        ".", "..", "...", "%2e", "%2E", "%252e", "%25252E", "%%32%65", "%2", "e", "%", "25", "/",
        "\\", "%2f", "%5C", "%252F", ";", ";x=y", "%3b", "?", "#", "%3F", "%00", "%09", "%20", " ",
        "docs", "secret", "a", "é", "%c3%a9",
    ];
    vec(select(pieces), 1..10).prop_map(|pieces| pieces.concat())
}

/// Returns true if `value`, read after one of the first nine rounds of decoding, has a dot segment.
fn is_resolved_by_some_parser(value: &str) -> bool {
    let mut bytes = value.as_bytes().to_vec();
    for _ in 0..9 {
        let text = String::from_utf8_lossy(&bytes);
        let mut segments = text
            .split(['/', '\\'])
            .map(|segment| segment.split([';', '?', '#']).next().unwrap().trim());
        if segments.any(|segment| matches!(segment, "." | "..")) {
            return true;
        }
        bytes = percent_decode(&bytes).collect();
    }
    false
}

proptest! {
    #![proptest_config(config(20_000))]

    #[test]
    fn no_reading_of_a_target_has_a_dot_segment(value in value()) {
        let target = Target::new(Access::Read, "web", &value);
        prop_assert!(target.is_err() || !is_resolved_by_some_parser(&value), "{value}");
    }
}

#[test]
fn a_clause_for_a_folder_covers_nothing_that_leads_out_of_it() {
    let grant = Grant::parse(["web:read:docs/**"]).unwrap();
    for escape in [
        "..",
        "%2e%2e",
        "%2E%2e",
        ".%2e",
        "%2e.",
        "%252e%252e",
        "%25252e.",
        "%%32%65.",
        "%u002e%U002E",
        "..;",
        "..;x=y",
        "%2e%2e;x",
        "..%3bx",
        "..%253b",
        "..%00",
        "..%00.html",
        ".%09.",
        "..%20",
        ".. ",
        "%20..",
        "..%0a",
    ] {
        for value in [
            format!("docs/{escape}/secret"),
            format!("docs%2f{escape}%2Fsecret"),
            format!("docs/x%5c{escape}%5csecret"),
            format!("docs/%252f{escape}"),
            format!("docs/{escape}?q"),
            format!("docs/{escape}#top"),
            format!("docs/{escape}"),
            format!("{escape}/docs"),
            escape.to_owned(),
        ] {
            let target = Target::new(Access::Read, "web", &value);
            assert!(
                matches!(target, Err(InvalidTarget::DotSegment { .. })),
                "{value}: {target:?}"
            );
        }
    }
    assert!(grant.permits(&Target::new(Access::Read, "web", "docs/secret").unwrap()));
}

#[test]
fn dots_and_escapes_that_lead_nowhere_are_accepted() {
    for value in [
        "docs/...",
        "docs/..a",
        "docs/a..",
        "docs/.well-known/x",
        "a%20b/c%2fd",
        "v1..v2",
        "100%",
        "%2",
        "%zz/a",
        "x?next=../y",
        "x;v=..",
        "a.example",
        "%2e%2e%2e",
        "%u2024%u2024",
    ] {
        assert_eq!(
            Target::new(Access::Read, "web", value).unwrap().value(),
            value
        );
    }
}

#[test]
fn files_and_tools_keep_names_that_only_look_escaped() {
    assert_eq!(
        Target::new(Access::Read, "fs", "docs/%2e%2e/x")
            .unwrap()
            .value(),
        "docs/%2e%2e/x"
    );
    assert_eq!(
        Target::new(Access::Read, "fs", "docs/..;/x")
            .unwrap()
            .value(),
        "docs/..;/x"
    );
    assert_eq!(
        Target::new(Access::Write, "world", "a/../%2e%2e")
            .unwrap()
            .value(),
        "a/../%2e%2e"
    );
}

#[test]
fn scheme_and_value_have_a_greatest_length() {
    let target = |scheme: &str, value: &str| Target::new(Access::Read, scheme, value);
    assert!(target(&"a".repeat(32), "x").is_ok());
    assert!(matches!(
        target(&"a".repeat(33), "x"),
        Err(InvalidTarget::Scheme { .. })
    ));
    assert!(matches!(
        target("a_b", "x"),
        Err(InvalidTarget::Scheme { .. })
    ));
    for scheme in ["web", "fs", "world"] {
        assert!(target(scheme, &"x".repeat(8192)).is_ok());
        assert_eq!(
            target(scheme, &"x".repeat(8193)),
            Err(InvalidTarget::TooLong { length: 8193 })
        );
        assert_eq!(target(scheme, ""), Err(InvalidTarget::Empty));
        assert!(matches!(
            target(scheme, "a\u{9b}"),
            Err(InvalidTarget::Control {
                character: '\u{9b}',
                ..
            })
        ));
    }
    let error = target("fs", &format!("../{}", "x".repeat(100))).unwrap_err();
    assert_eq!(
        error,
        InvalidTarget::OutsideRoot {
            value: format!("../{}", "x".repeat(77))
        }
    );
    assert_eq!(
        format!("{:?}", target("fs", "a/b").unwrap()),
        "Target(fs:read:a/b)"
    );
}

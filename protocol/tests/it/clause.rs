//! The rules of clauses and grants, each with near misses.

use std::hash::{DefaultHasher, Hash, Hasher};

use protocol::{Access, Clause, Effects, Grant, InvalidClause, Target, ToolName};

fn covers(clause: &str, target: &str) -> bool {
    clause
        .parse::<Clause>()
        .unwrap()
        .matches(&target.parse().unwrap())
}

#[test]
fn a_clause_covers_its_scheme_and_access_only() {
    for clause in [
        "git:read:src/**",
        "git:read:src/a",
        "git:read:src/?",
        "git:read:**",
    ] {
        assert!(covers(clause, "git:read:src/a"), "{clause}");
        for other in [
            "fs:read:src/a",
            "web:read:src/a",
            "git:write:src/a",
            "git:destroy:src/a",
        ] {
            assert!(!covers(clause, other), "{clause} {other}");
        }
    }
    assert!(
        covers("*:read:a", "git:read:a")
            && covers("*:read:a", "fs:read:a")
            && !covers("*:read:a", "fs:write:a")
    );
    assert!(
        covers("fs:*:a", "fs:read:a")
            && covers("fs:*:a", "fs:destroy:a")
            && !covers("fs:*:a", "git:read:a")
    );
}

#[test]
fn a_clause_tells_its_parts() {
    let clause: Clause = "fs:write:./src//*".parse().unwrap();
    assert_eq!(
        (clause.scheme(), clause.access(), clause.pattern()),
        (Some("fs"), Some(Access::Write), "src/*")
    );
    assert_eq!(
        format!("{clause:?} {clause:>20}"),
        "Clause(fs:write:src/*)       fs:write:src/*"
    );
    let any: Clause = "*:*:a".parse().unwrap();
    assert_eq!((any.scheme(), any.access()), (None, None));
}

#[test]
fn a_clause_covers_a_port_only_if_it_says_so() {
    for (clause, target, covered) in [
        ("net:read:example.org", "net:read:example.org", true),
        ("net:read:example.org", "net:read:example.org:8080", false),
        ("net:read:*.org", "net:read:example.org:8080", false),
        ("net:read:localhost:8080", "net:read:localhost:8080", true),
        ("net:read:localhost:8080", "net:read:localhost", false),
        ("net:read:localhost:*", "net:read:localhost:8080", true),
        ("net:read:localhost:*", "net:read:localhost", false),
        (
            "net:read:localhost:*",
            "net:read:localhost.example:8080",
            false,
        ),
        (r"net:read:\[::1\]", "net:read:[::1]", true),
        (r"net:read:\[::1\]", "net:read:[::1]:8080", false),
        (r"net:read:\[::1\]:8080", "net:read:[::1]:8080", true),
        (r"net:read:\[::1]:*", "net:read:[::1]:8080", true),
        ("net:read:**", "net:read:[::1]:8080", true),
    ] {
        assert_eq!(covers(clause, target), covered, "{clause} {target}");
    }
}

#[test]
fn an_address_without_escapes_is_refused_because_no_host_matches_it() {
    for clause in [
        "net:read:[::1]",
        "net:read:[::1]:8080",
        "net:*:[2001:db8::1]:*",
    ] {
        let refused = clause.parse::<Clause>();
        assert!(
            matches!(&refused, Err(InvalidClause::Pattern { reason, .. }) if reason.contains(r"\[::1\]")),
            "{clause}"
        );
    }
    for clause in [
        "net:read:[ab].example:8080",
        "git:read:[::1]",
        "*:read:[::1]",
        r"net:read:\[::1]:8080",
    ] {
        assert!(clause.parse::<Clause>().is_ok(), "{clause}");
    }
    let target: Target = "net:read:[::1]:8080".parse().unwrap();
    let clause = target.to_clause();
    assert_eq!(clause.as_str().parse().as_ref(), Ok(&clause));
    assert!(clause.matches(&target));
}

#[test]
fn a_host_that_no_target_spells_so_is_refused_with_the_spelling_of_targets() {
    for (clause, expected) in [
        ("net:read:Example.org", "net:read:example.org"),
        ("net:*:Example.org:8080", "net:*:example.org:8080"),
        ("net:write:*.Example.org/**", "net:write:*.example.org/**"),
        ("net:read:{a,B}.org:*", "net:read:{a,b}.org:*"),
        ("net:read:https://example.org", "net:read:example.org"),
        (
            "net:read:https://Example.org:443/a/B?c",
            "net:read:example.org",
        ),
        ("net:read:HTTP://localhost:8080/", "net:read:localhost:8080"),
        ("net:read:https://[0:0::1]:8080/", r"net:read:\[::1\]:8080"),
        ("net:*:https://*.Example.org/**", "net:*:*.example.org"),
        ("net:read:https://**", "net:read:**"),
        (
            "net:read:https://*.Example.org:*",
            "net:read:*.example.org:*",
        ),
    ] {
        let refused = clause.parse::<Clause>().unwrap_err();
        let InvalidClause::Host {
            spelling: Some(spelling),
            ..
        } = &refused
        else {
            panic!("{clause} {refused:?}")
        };
        assert_eq!(spelling.as_str(), expected, "{clause}");
        assert!(
            refused
                .to_string()
                .ends_with(&format!("write `{expected}`")),
            "{refused}"
        );
        assert_eq!(spelling.parse::<Clause>().unwrap().as_str(), expected);
    }
    for clause in [
        "net:read:m\u{fc}nchen.example",
        "net:read:https://\u{ff41}.example/",
        "net:read:https://u@Example.org",
        "net:read:https://[::1]:*",
        "net:read:https://[::ffff:192.0.2.1]/",
        "net:read:https://example.org?q=1",
        "net:*:https://*.example.org:443/**",
        "net:read:{https://a.org,https://b.org}",
        "net:read:https://Example.org./",
    ] {
        let refused = clause.parse::<Clause>().unwrap_err();
        assert!(
            matches!(refused, InvalidClause::Host { spelling: None, .. }),
            "{clause} {refused:?}"
        );
        assert!(refused.to_string().contains("xn--"), "{refused}");
    }
    for clause in [
        "net:read:example.org",
        "net:read:xn--mnchen-3ya.example",
        "net:read:[A-Za-z].example",
        r"net:read:\Example.org",
        "*:read:Example.org",
        "git:read:https://Example.org",
    ] {
        assert!(clause.parse::<Clause>().is_ok(), "{clause}");
    }
}

#[test]
fn the_error_for_a_url_does_not_repeat_its_password_or_query() {
    for clause in [
        "net:read:https://me:sk-secret@example.org",
        "net:read:https://example.org/?key=sk-secret",
    ] {
        let refused = clause.parse::<Clause>().unwrap_err();
        assert!(
            !format!("{refused} {refused:?}").contains("sk-secret"),
            "{refused:?}"
        );
    }
}

#[test]
fn the_ceiling_of_a_template_that_is_a_url_reads_back() {
    let effects: Effects =
        serde_json::from_value(serde_json::json!({"reads": ["net:https://{host}"]})).unwrap();
    for clause in effects.ceiling(&ToolName::new("t").unwrap()) {
        assert_eq!(clause.as_str().parse().as_ref(), Ok(&clause));
        assert!(
            clause.matches(&"net:read:https://example.org".parse().unwrap()),
            "{clause}"
        );
    }
}

#[test]
fn the_clause_of_a_host_in_another_spelling_reads_back() {
    for value in [
        "Example.org",
        "https://Example.org/a",
        "m\u{fc}nchen.example",
        "[::A]:8080",
    ] {
        let target = Target::new(Access::Read, "net", value).unwrap();
        let clause: Clause = target.to_clause().to_string().parse().unwrap();
        assert_eq!(clause, target.to_clause());
        assert!(clause.matches(&target), "{clause}");
    }
}

#[test]
fn clauses_are_equal_ordered_and_hashed_by_their_text() {
    let clause = |text: &str| text.parse::<Clause>().unwrap();
    let hash = |clause: &Clause| {
        let mut hasher = DefaultHasher::new();
        clause.hash(&mut hasher);
        hasher.finish()
    };
    assert_eq!(clause("fs:read:a"), clause("fs:read:./a"));
    assert_eq!(hash(&clause("fs:read:a")), hash(&clause("fs:read:./a")));
    assert_ne!(clause("fs:read:a"), clause("fs:read:b"));
    assert_ne!(hash(&clause("fs:read:a")), hash(&clause("fs:read:b")));
    assert!(clause("fs:read:a") < clause("fs:read:b"));
}

#[test]
fn only_patterns_with_wildcards_are_limited_to_1024_bytes() {
    let parse = |pattern: &str| format!("git:read:{pattern}").parse::<Clause>();
    assert!(parse(&format!("{}*", "x".repeat(1023))).is_ok());
    assert!(matches!(
        parse(&format!("{}*", "x".repeat(1024))),
        Err(InvalidClause::Pattern { .. })
    ));
    assert!(parse(&"x".repeat(5000)).is_ok());
    assert!(parse(&format!("{}/**", "x".repeat(5000))).is_ok());
}

#[test]
fn an_error_quotes_no_more_than_80_characters() {
    let error = format!("fs:read:../{}", "x".repeat(100))
        .parse::<Clause>()
        .unwrap_err();
    let InvalidClause::Target { text, .. } = error else {
        panic!("{error:?}")
    };
    assert_eq!(text, format!("fs:read:../{}", "x".repeat(69)));
}

#[test]
fn a_path_pattern_steps_up_only_where_it_has_no_wildcards() {
    assert_eq!("fs:read:a/../b".parse::<Clause>().unwrap().pattern(), "b");
    assert_eq!("fs:read:a/b*".parse::<Clause>().unwrap().pattern(), "a/b*");
    for pattern in ["a/../b*", "?/../b", "[a]/../b", "{a,b}/../c"] {
        assert!(
            format!("fs:read:{pattern}").parse::<Clause>().is_err(),
            "{pattern}"
        );
    }
}

#[test]
fn a_grant_lists_its_layers_and_clauses() {
    let parent = Grant::parse(["fs:write:b", "fs:read:a", "fs:read:a"]).unwrap();
    let child = parent.narrow(["fs:*:**".parse().unwrap()]);
    let layers: Vec<Vec<String>> = child
        .layers()
        .map(|layer| layer.iter().map(Clause::to_string).collect())
        .collect();
    assert_eq!(layers, [vec!["fs:*:**"], vec!["fs:read:a", "fs:write:b"]]);
    assert_eq!(
        child.clauses().map(Clause::as_str).collect::<Vec<_>>(),
        ["fs:*:**", "fs:read:a", "fs:write:b"]
    );
    assert_eq!(child.to_string(), "(fs:*:**) and (fs:read:a or fs:write:b)");
    assert_eq!(
        format!("{parent:?} {:?}", Grant::none()),
        "Grant(fs:read:a or fs:write:b) Grant(nothing)"
    );
    assert!(Grant::parse(["fs:read:a", "fs:read"]).is_err());
    assert_eq!(Grant::default(), Grant::none());
}

#[test]
fn only_a_clause_for_every_scheme_and_access_and_value_covers_everything() {
    let targets = [
        "fs:read:.",
        "fs:destroy:a/b",
        "net:read:host",
        "world:write:shell",
    ]
    .map(|text| text.parse().unwrap());
    let covers_all = |clause: &str| {
        let clause: Clause = clause.parse().unwrap();
        targets.iter().all(|target| clause.matches(target))
    };
    assert!(["*:*:**", "*:*:**/**"].into_iter().all(covers_all));
    assert!(
        !["*:*:*", "fs:*:**", "*:read:**", "*:*:a/**"]
            .into_iter()
            .any(covers_all)
    );
}

#[test]
fn the_names_of_a_servers_tools_are_a_clause() {
    for (text, clause) in [
        ("mcp:files/**", "world:write:mcp:files/**"),
        ("mcp:files/read_*", "world:write:mcp:files/read_*"),
        ("mcp:**", "world:write:mcp:*/**"),
    ] {
        assert_eq!(text.parse::<Clause>().unwrap().to_string(), clause);
    }
    let all: Clause = "mcp:files/**".parse().unwrap();
    let target = |tool: &str| Target::unbounded(&tool.parse().unwrap());
    assert!(all.matches(&target("mcp:files/read")));
    assert!(!all.matches(&target("mcp:other/read")) && !all.matches(&target("shell")));
    assert!(
        "mcp:read:files/**"
            .parse::<Clause>()
            .unwrap()
            .matches(&"mcp:read:files/x".parse::<Target>().unwrap())
    );
    assert!("files".parse::<Clause>().is_err());
}

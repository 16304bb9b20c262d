//! Decides whether the grant or a rule names the host that a call reads.
//!
//! A read of a host carries data out: its URL contains the text that a model chose. A clause such as `net:read:**` is therefore no
//! consent to each host.

use protocol::{Access, Clause, Grant, Target};

use super::Rule;

/// Returns true if the target is a host that a clause or a rule has to name.
pub(super) fn is_read(target: &Target) -> bool {
    target.scheme() == "net" && target.access() == Access::Read
}

/// Returns true if every layer of the grant has a clause that covers the target and names its host.
///
/// As for sensitive paths, every layer has to: a model chooses the clauses of a sub-agent, and must not name a host for the layers
/// of a person. An intersection never names more than either side.
pub(super) fn is_named_in(grant: &Grant, target: &Target) -> bool {
    grant.layers().all(|layer| {
        layer
            .iter()
            .any(|clause| is_named_by_clause(clause, target))
    })
}

/// Returns true if an allowing rule that applies to the target names its host, or names the tool and targets of the scheme `net`.
pub(super) fn is_named_by(rule: &Rule, target: &Target) -> bool {
    rule.target().is_some_and(|clause| {
        is_named_by_clause(clause, target)
            // A person who allows one tool the network, such as a search, means the hosts of that tool.
            || rule.is_for_one_tool() && clause.scheme() == Some(target.scheme())
    })
}

/// Returns true if the clause covers the target and has no wildcard in the scheme and the host. A port can be a wildcard.
pub(super) fn is_named_by_clause(clause: &Clause, target: &Target) -> bool {
    clause.scheme().is_some()
        && clause.matches(target)
        && literal_length(clause.pattern())
            .is_none_or(|length| length > host_length(target.value()))
}

/// Returns the length of the text that a pattern begins with, before its first wildcard. Returns `None` if it has no wildcard.
fn literal_length(pattern: &str) -> Option<usize> {
    let mut length = 0;
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        length += match c {
            '*' | '?' | '[' | '{' => return Some(length),
            '\\' => characters.next().map_or(0, char::len_utf8),
            c => c.len_utf8(),
        };
    }
    None
}

/// Returns the length of the host in a value. A value of another form than `host` or `host:port` is as a whole the host.
fn host_length(value: &str) -> usize {
    match value.rsplit_once(':') {
        Some((host, port))
            if port.bytes().all(|b| b.is_ascii_digit())
                && (host.ends_with(']') || !host.contains(':')) =>
        {
            host.len()
        }
        _ => value.len(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::policy::Verdict;

    fn target(value: &str) -> Target {
        Target::new(Access::Read, "net", value).unwrap()
    }

    fn is_named(clause: &str, value: &str) -> bool {
        is_named_by_clause(&clause.parse().unwrap(), &target(value))
    }

    #[test]
    fn a_clause_names_a_host_that_it_spells() {
        for (clause, value) in [
            ("net:read:example.org", "example.org"),
            ("net:*:example.org", "example.org"),
            ("net:read:example.org/**", "example.org"),
            ("net:read:example.org:8080", "example.org:8080"),
            ("net:read:example.org:*", "example.org:8080"),
            ("net:read:example.org:80[0-9][0-9]", "example.org:8080"),
            ("net:read:example.org:{80,8080}", "example.org:8080"),
            (r"net:read:\e\xample.org", "example.org"),
            (r"net:read:\[::1\]", "[::1]"),
            (r"net:read:\[::1]:*", "[::1]:8080"),
            (r"net:read:https\://example.org", "https://example.org"),
        ] {
            assert!(is_named(clause, value), "{clause} {value}");
        }
    }

    #[test]
    fn a_clause_with_a_wildcard_in_the_host_does_not_name_it() {
        for (clause, value) in [
            ("net:read:**", "example.org"),
            ("net:read:*", "example.org:8080"),
            ("net:read:*.org", "example.org"),
            ("net:read:example.or?", "example.org"),
            ("net:read:example.o[r]g", "example.org"),
            ("net:read:{example.org,a.example}", "example.org"),
            ("net:read:example.org*", "example.org"),
            ("net:read:example.org*", "example.org:8080"),
            ("*:*:**", "example.org"),
            ("*:read:example.org", "example.org"),
            ("net:write:example.org", "example.org"),
            ("net:read:example.org", "example.org:8080"),
            (r"net:read:\[*\]", "[::1]"),
            (r"net:read:\[::1*", "[::1]:8080"),
            (r"net:read:\[::*", "[::1]"),
            ("net:read:https:/**", "https://example.org"),
            ("net:read:https:*", "https:8080/x:1"),
            ("net:read:a:b:*", "a:b:1"),
        ] {
            assert!(!is_named(clause, value), "{clause} {value}");
        }
    }

    #[test]
    fn every_layer_has_to_name_the_host() {
        let (named, wild) = (["net:read:example.org"], ["net:read:**"]);
        let grant = |clauses: &[&str]| Grant::parse(clauses).unwrap();
        let host = target("example.org");
        assert!(is_named_in(
            &grant(&["net:read:**", "net:read:example.org"]),
            &host
        ));
        assert!(!is_named_in(&grant(&named).intersect(&grant(&wild)), &host));
        assert!(
            !is_named_in(&grant(&wild).intersect(&grant(&named)), &host),
            "a sub-agent names nothing for its parent"
        );
        assert!(is_named_in(
            &grant(&named).intersect(&grant(&["net:*:example.org"])),
            &host
        ));
        assert!(!is_named_in(&Grant::none(), &host));
    }

    #[test]
    fn a_rule_names_the_host_or_the_tool() {
        let rule = |tool: Option<&str>, target: Option<&str>| {
            Rule::new(
                Verdict::Allow,
                tool,
                target.map(|target| target.parse().unwrap()),
            )
            .unwrap()
        };
        for (tool, clause, expected) in [
            (None, Some("net:read:example.org"), true),
            (Some("web.*"), Some("net:read:example.org"), true),
            (Some("web.fetch"), Some("net:read:**"), true),
            (Some("web.fetch"), Some("net:*:*"), true),
            (Some(r"web\.fetch"), Some("net:read:**"), true),
            (None, Some("net:read:**"), false),
            (Some("web.*"), Some("net:read:**"), false),
            (Some("web.{fetch,search}"), Some("net:read:**"), false),
            (Some("web.fetc[h]"), Some("net:read:**"), false),
            (Some("web.fetc?"), Some("net:read:**"), false),
            (Some("web.fetch"), Some("*:read:**"), false),
            (Some("web.fetch"), Some("*:*:**"), false),
            (Some("web.fetch"), None, false),
        ] {
            assert_eq!(
                is_named_by(&rule(tool, clause), &target("example.org")),
                expected,
                "{tool:?} {clause:?}"
            );
        }
    }

    #[test]
    fn only_reads_of_hosts_have_to_be_named() {
        for (target, expected) in [
            ("net:read:a", true),
            ("net:write:a", false),
            ("net:destroy:a", false),
            ("fs:read:a", false),
            ("search:read:web", false),
        ] {
            assert_eq!(is_read(&target.parse().unwrap()), expected, "{target}");
        }
    }

    fn grant() -> impl Strategy<Value = Grant> {
        let clause = select(vec![
            "net:read:**",
            "*:*:**",
            "net:read:a.org",
            "net:*:a.org:*",
            "net:read:*.org",
            "net:read:a.org:80",
            r"net:read:\[::1\]:*",
            "*:read:a.org",
            "net:write:a.org",
        ]);
        let layer = prop::collection::vec(clause, 1..4);
        prop::collection::vec(layer, 1..4).prop_map(|layers| {
            let layers = layers.into_iter().map(|layer| Grant::parse(layer).unwrap());
            layers.reduce(|all, layer| all.intersect(&layer)).unwrap()
        })
    }

    proptest! {
        #[test]
        fn an_intersection_names_a_host_only_where_both_sides_do(
            a in grant(),
            b in grant(),
            host in select(vec!["a.org", "a.org:80", "b.org", "[::1]:80"]),
        ) {
            let target = target(host);
            prop_assert_eq!(is_named_in(&a.intersect(&b), &target), is_named_in(&a, &target) && is_named_in(&b, &target));
            prop_assert!(!is_named_in(&a, &target) || a.permits(&target));
        }

        #[test]
        fn a_clause_for_one_target_names_it(value in "[a-z.\\[\\]:*?{}0-9]{1,12}") {
            let Ok(target) = Target::new(Access::Read, "net", value) else { return Ok(()) };
            prop_assert!(is_named_by_clause(&target.to_clause(), &target));
        }
    }
}

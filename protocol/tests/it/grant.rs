//! Properties of targets, clauses and grants.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use protocol::{Access, Clause, Grant, Normaliser, Target};

use crate::sample::config;

fn access() -> impl Strategy<Value = Access> {
    select(vec![Access::Read, Access::Write, Access::Destroy])
}

/// Targets of a small alphabet, so that clauses often cover them.
fn small_target() -> impl Strategy<Value = Target> {
    let value = vec(select(vec!["a", "b", "ab", "ba"]), 0..4);
    (access(), select(vec!["fs", "git"]), value).prop_map(|(access, scheme, value)| {
        let value = if value.is_empty() {
            "c".to_owned()
        } else {
            value.join("/")
        };
        let value = if scheme == "fs" && value == "c" {
            ".".to_owned()
        } else {
            value
        };
        Target::new(access, scheme, &value).unwrap()
    })
}

fn small_pattern() -> impl Strategy<Value = String> {
    let segment = select(vec![
        "a", "b", "ab", "*", "**", "a*", "*b", "?", "??", "[!a]", "[ab]b", "{a,b}", "{a,b/a}b", ".",
    ]);
    vec(segment, 1..4).prop_map(|segments| segments.join("/"))
}

fn clause() -> impl Strategy<Value = Clause> {
    let schemes = select(vec!["fs", "git", "*"]);
    let accesses = select(vec!["read", "write", "destroy", "*"]);
    (schemes, accesses, small_pattern()).prop_map(|(scheme, access, pattern)| {
        format!("{scheme}:{access}:{pattern}").parse().unwrap()
    })
}

fn grant() -> impl Strategy<Value = Grant> {
    let layers = vec(vec(clause(), 1..5), 0..4).prop_map(|layers| {
        layers
            .into_iter()
            .fold(Grant::all(), |grant, layer| grant.narrow(layer))
    });
    prop_oneof![8 => layers, 1 => Just(Grant::none())]
}

/// Targets with all characters that are special in patterns, paths or targets.
fn hostile_target() -> impl Strategy<Value = Target> {
    let value = "[ab.*?\\[\\]{}!,^\\\\:/ é-]{1,8}";
    (access(), select(vec!["fs", "git", "world"]), value)
        .prop_filter_map("not a target", |(access, scheme, value)| {
            Target::new(access, scheme, &value).ok()
        })
}

/// Relative paths, some of which lead outside the root.
fn raw_path() -> impl Strategy<Value = String> {
    vec(select(vec!["a", "b", "..", ".", "", "...", "c:"]), 1..7)
        .prop_map(|segments| segments.join("/"))
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn a_child_grant_is_never_wider(parent in grant(), child in grant(), target in small_target()) {
        prop_assert_eq!(parent.intersect(&child).permits(&target), parent.permits(&target) && child.permits(&target));
    }

    #[test]
    fn narrowing_asks_for_a_clause_as_well(grant in grant(), clauses in vec(clause(), 0..4), target in small_target()) {
        let covered = clauses.iter().any(|clause| clause.matches(&target));
        prop_assert_eq!(grant.narrow(clauses).permits(&target), grant.permits(&target) && covered);
    }

    #[test]
    fn intersection_does_not_care_for_order_or_repetition(a in grant(), b in grant(), c in grant()) {
        prop_assert_eq!(&a.intersect(&a), &a);
        prop_assert_eq!(a.intersect(&b), b.intersect(&a));
        prop_assert_eq!(a.intersect(&b).intersect(&c), a.intersect(&b.intersect(&c)));
    }

    #[test]
    fn none_and_all_are_the_ends(grant in grant(), target in hostile_target()) {
        prop_assert!(!Grant::none().permits(&target));
        prop_assert!(!Grant::none().intersect(&grant).permits(&target));
        prop_assert!(Grant::all().permits(&target));
        prop_assert_eq!(Grant::all().intersect(&grant).permits(&target), grant.permits(&target));
    }

    #[test]
    fn each_layer_of_an_intersection_is_a_layer_of_one_side(a in grant(), b in grant()) {
        let both = a.intersect(&b);
        for layer in both.layers() {
            prop_assert!(a.layers().chain(b.layers()).any(|side| side == layer));
        }
        for layer in a.layers().chain(b.layers()) {
            prop_assert!(both.layers().any(|kept| kept == layer));
        }
    }

    #[test]
    fn a_grant_reads_back_from_its_json(grant in grant()) {
        let json = serde_json::to_value(&grant).unwrap();
        prop_assert!(json.as_array().is_some_and(|layers| !layers.is_empty()));
        prop_assert_eq!(serde_json::from_value::<Grant>(json).unwrap(), grant);
    }

    #[test]
    fn a_clause_reads_back_from_its_text(clause in clause(), target in small_target()) {
        let again: Clause = clause.to_string().parse().unwrap();
        prop_assert_eq!(again.matches(&target), clause.matches(&target));
        prop_assert_eq!(again.as_str(), clause.as_str());
        let json = serde_json::to_value(&clause).unwrap();
        prop_assert_eq!(json.as_str(), Some(clause.as_str()));
        prop_assert_eq!(serde_json::from_value::<Clause>(json).unwrap(), clause);
    }

    #[test]
    fn the_clause_of_a_target_grants_that_target_only(a in hostile_target(), b in hostile_target(), at in any::<prop::sample::Index>()) {
        let clause = a.to_clause();
        let parsed: Clause = clause.to_string().parse().unwrap();
        // A value with one character less is a near miss that an unescaped pattern would often match.
        let shorter: String = { let mut c: Vec<char> = a.value().chars().collect(); c.remove(at.index(c.len())); c.into_iter().collect() };
        let near = Target::new(a.access(), a.scheme(), &shorter).ok();
        for clause in [clause, parsed] {
            prop_assert!(clause.matches(&a));
            for other in near.iter().chain([&b]) {
                prop_assert_eq!(clause.matches(other), *other == a);
            }
        }
    }

    #[test]
    fn a_target_reads_back_from_its_text(target in hostile_target()) {
        prop_assert_eq!(&target.to_string().parse::<Target>().unwrap(), &target);
        let json = serde_json::to_value(&target).unwrap();
        prop_assert_eq!(serde_json::from_value::<Target>(json).unwrap(), target);
    }

    #[test]
    fn a_normalised_path_stays_below_the_root(path in prop_oneof![raw_path(), "[a./\\\\:C]{0,8}", any::<String>()]) {
        if let Ok(normal) = Normaliser::Path.apply(&path) {
            prop_assert!(normal == "." || normal.split('/').all(|segment| !matches!(segment, "" | "." | "..")));
            prop_assert!(!normal.starts_with('/'));
            prop_assert_eq!(Normaliser::Path.apply(&normal).unwrap(), normal);
        }
    }

    #[test]
    fn a_path_is_refused_if_any_step_leaves_the_root(path in raw_path().prop_filter("drive letters", |path| !path.contains(':'))) {
        let mut depth = 0i32;
        let mut lowest = 0;
        for segment in path.split('/') {
            depth += match segment { "" | "." => 0, ".." => -1, _ => 1 };
            lowest = lowest.min(depth);
        }
        let acceptable = lowest == 0 && !path.starts_with('/') && !path.is_empty();
        prop_assert_eq!(Normaliser::Path.apply(&path).is_ok(), acceptable);
    }

    #[test]
    fn a_granted_directory_cannot_be_left(dir in "[ab]/?[ab]?", path in raw_path()) {
        let dir = dir.trim_end_matches('/');
        let clause: Clause = format!("fs:read:{dir}/**").parse().unwrap();
        for path in [path.clone(), format!("{dir}/{path}"), format!("{dir}b/{path}")] {
            if let Ok(target) = Target::new(Access::Read, "fs", &path) {
                let inside = target.value() == dir || target.value().starts_with(&format!("{dir}/"));
                prop_assert_eq!(clause.matches(&target), inside);
            }
        }
    }

    #[test]
    fn no_text_makes_a_parser_panic(text in prop_oneof![any::<String>(), "[a-b*?\\[\\]{},!^/.:\\\\é-]{0,16}"], target in hostile_target()) {
        let _ = text.parse::<Access>();
        let _ = text.parse::<Target>();
        for scheme in ["", "fs:read:", "git:*:", "*:*:"] {
            if let Ok(clause) = format!("{scheme}{text}").parse::<Clause>() {
                clause.matches(&target);
                prop_assert_eq!(clause.as_str().parse::<Clause>(), Ok(clause));
            }
        }
    }
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn origins_are_kept_and_change_nothing_else(a in grant(), b in grant(), target in small_target()) {
        let (labelled, other) = (a.clone().with_origin("a"), b.clone().with_origin("b"));
        prop_assert_eq!(&labelled, &a);
        prop_assert_eq!(hash(&labelled), hash(&a));
        prop_assert_eq!(labelled.to_string(), a.to_string());
        prop_assert_eq!(serde_json::to_value(&labelled).unwrap(), serde_json::to_value(&a).unwrap());
        prop_assert_eq!(labelled.permits(&target), a.permits(&target));
        let both = labelled.intersect(&other);
        prop_assert_eq!(&both, &a.intersect(&b));
        for layer in both.layers() {
            let holds = |grant: &Grant| grant.layers().any(|side| side == layer);
            let expected = match (holds(&a), holds(&b)) {
                (true, true) => "a, b",
                (true, false) => "a",
                _ => "b",
            };
            prop_assert!(layer.iter().all(|clause| clause.origins().to_string() == expected), "{:?}", layer);
        }
    }
}

fn hash(grant: &Grant) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(grant)
}

#[test]
fn equal_clauses_of_a_layer_become_one_with_the_origins_of_all() {
    let clause = |origin: &str| "fs:read:**".parse::<Clause>().unwrap().with_origin(origin);
    let grant = Grant::new([
        clause("default"),
        clause("x:1"),
        clause("default"),
        "fs:read:**".parse().unwrap(),
    ]);
    let [only] = &grant.clauses().collect::<Vec<_>>()[..] else {
        panic!("{grant}")
    };
    assert_eq!(only.origins().to_string(), "default, x:1");
    assert_eq!(
        serde_json::to_value(only.origins()).unwrap(),
        serde_json::json!(["default", "x:1"])
    );
    assert!(
        Grant::parse(["fs:read:**"])
            .unwrap()
            .clauses()
            .all(|clause| clause.origins().is_empty())
    );
}

#[test]
fn path_patterns_are_kept_normalised() {
    let text = |text: &str| text.parse::<Clause>().map(|clause| clause.to_string());
    assert_eq!(text("fs:read:./src//**/"), Ok("fs:read:src/**".to_owned()));
    assert_eq!(text("fs:read:a/../b"), Ok("fs:read:b".to_owned()));
    for outside in [
        "fs:read:/etc/**",
        "fs:read:../**",
        "fs:read:src/**/../x",
        "fs:read:",
        "fs:read:C:/x",
    ] {
        assert!(text(outside).is_err(), "{outside}");
    }
}

#[test]
fn the_parts_of_a_clause_are_checked() {
    for text in [
        "",
        "fs",
        "fs:read",
        "FS:read:a",
        "1fs:read:a",
        "fs:append:a",
        ":read:a",
        "fs::a",
        "fs:read:a\nb",
        "git:read:{",
    ] {
        assert!(text.parse::<Clause>().is_err(), "{text:?}");
    }
    let clause: Clause = "queue+v2:*:a:b".parse().unwrap();
    assert_eq!(
        (clause.scheme(), clause.access(), clause.pattern()),
        (Some("queue+v2"), None, "a:b")
    );
}

#[test]
fn a_grant_without_layers_in_its_json_permits_nothing() {
    for json in ["[]", "[[]]", r#"[["*:*:**"],[]]"#] {
        let grant: Grant = serde_json::from_str(json).unwrap();
        assert!(!grant.permits(&"fs:read:a".parse().unwrap()), "{json}");
        assert_eq!(grant.to_string(), "nothing");
    }
    assert!(serde_json::from_str::<Grant>(r#"["fs:read:**"]"#).is_err());
}

#[test]
fn an_excerpt_has_the_clauses_of_the_scheme_first_and_a_count_of_the_others() {
    let many = |scheme: &str, count: usize| {
        (0..count)
            .map(move |n| format!("{scheme}:read:{n}"))
            .collect::<Vec<_>>()
    };
    let needed: Target = "fs:write:a".parse().unwrap();
    let excerpt = |clauses: &[Vec<String>]| {
        Grant::parse(clauses.concat())
            .unwrap()
            .excerpt(std::slice::from_ref(&needed))
    };
    let five = "fs:read:0 or fs:read:1 or fs:read:2 or fs:read:3 or fs:read:4";
    assert_eq!(excerpt(&[]), "nothing");
    assert_eq!(excerpt(&[many("a", 2)]), "a:read:0 or a:read:1");
    assert_eq!(
        excerpt(&[many("a", 6)]),
        "6 clauses, none of them of this scheme"
    );
    assert_eq!(
        excerpt(&[many("a", 5), many("fs", 1), vec!["*:read:b".to_owned()]]),
        "*:read:b or fs:read:0 or 5 other clauses"
    );
    assert_eq!(
        excerpt(&[many("fs", 5), many("a", 1)]),
        format!("{five} or 1 other clause")
    );
    assert_eq!(
        excerpt(&[many("fs", 9)]),
        format!("{five} or 4 other clauses")
    );
    let (wide, narrow) = (
        Grant::parse(many("a", 6)).unwrap(),
        Grant::parse(["fs:*:**"]).unwrap(),
    );
    let layered = wide
        .intersect(&narrow)
        .excerpt(std::slice::from_ref(&needed));
    assert_eq!(
        layered,
        "(6 clauses, none of them of this scheme) and (fs:*:**)"
    );
}

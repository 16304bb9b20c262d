//! The catalog as a value.

use crate::sample::{closed, echo, holding, pure, reader};
use serde_json::json;
use tools::protocol::Example;
use tools::schema::SchemaError;
use tools::{
    Catalog, Effects, Host, RegisterError, Source, Submission, Tool, ToolContext, ToolErrorKind,
};

fn names(catalog: &Catalog) -> Vec<String> {
    catalog
        .list()
        .iter()
        .map(|entry| entry.name().to_string())
        .collect()
}

#[test]
fn tools_are_listed_in_the_order_of_their_names() {
    let mut catalog = Catalog::new();
    for name in ["b", "a.b", "a", "B", "a/b"] {
        catalog.register(pure(name), echo).unwrap();
    }
    assert_eq!(names(&catalog), ["B", "a", "a.b", "a/b", "b"]);
}

#[test]
fn instances_are_independent_and_a_clone_goes_its_own_way() {
    let mut one = Catalog::new();
    one.register(pure("a"), echo).unwrap();
    let mut copy = one.clone();
    copy.register(pure("b"), echo).unwrap();
    one.unregister("a");
    assert_eq!(
        (names(&one), names(&copy)),
        (vec![], vec!["a".to_owned(), "b".to_owned()])
    );
    assert!(Catalog::new().list().is_empty());
}

#[test]
fn a_name_that_exists_is_refused_with_both_places_and_a_free_name() {
    let mut catalog = holding(pure("fs.read"), echo);
    let first = line!() - 1;
    catalog.register(pure("fs.read_v2"), echo).unwrap();
    let error = catalog.register(pure("fs.read"), echo).unwrap_err();
    let RegisterError::Exists {
        existing,
        refused,
        free,
        ..
    } = &error
    else {
        panic!("{error}")
    };
    assert_eq!((existing[0].line, refused.line), (first, first + 3));
    assert_eq!(existing[0].file, file!());
    assert_eq!(existing[0].crate_name, "it", "the test's own crate");
    assert_eq!(*free, "fs.read_v3");
    let text = error.to_string();
    assert!(
        text.contains(&format!("{}:{first}", file!())) && text.contains("fs.read_v3"),
        "{text}"
    );
}

#[test]
fn the_source_of_a_tool_is_the_crate_of_its_code() {
    let mut catalog = Catalog::new();
    let typed = tools::handler::typed(async |_: ToolContext, arguments: serde_json::Value| {
        Ok::<_, String>(arguments)
    });
    let blocking =
        tools::handler::blocking(|_: &ToolContext, _: serde_json::Value| Ok::<_, String>(()));
    for entry in [
        catalog.register(pure("a"), typed).unwrap(),
        catalog.register(pure("b"), blocking).unwrap(),
        catalog.register(pure("c"), echo).unwrap(),
    ] {
        assert_eq!(
            (&*entry.source().crate_name, &*entry.source().file),
            ("it", file!())
        );
    }
    let entry = catalog
        .insert(tools::Entry::new(pure("d"), echo, tools::source!()).unwrap())
        .unwrap();
    assert_eq!(entry.source().version, env!("CARGO_PKG_VERSION"));
    assert!(
        catalog
            .insert(tools::Entry::new(pure("d"), echo, tools::source!()).unwrap())
            .is_err()
    );
    assert_eq!(catalog.names(), ["a", "b", "c", "d"]);
}

#[test]
fn a_refused_registration_changes_nothing() {
    let mut catalog = Catalog::new();
    let kept = catalog.register(pure("a"), echo).unwrap();
    let watch = catalog.subscribe();
    let before = watch.generation();

    assert!(catalog.register(pure("a"), echo).is_err());
    assert!(
        catalog
            .replace(
                Tool {
                    description: " \n".into(),
                    ..pure("a")
                },
                echo
            )
            .is_err()
    );
    assert!(
        catalog
            .register(
                Tool {
                    parameters: json!({"type": 5}),
                    ..pure("b")
                },
                echo
            )
            .is_err()
    );

    assert_eq!(names(&catalog), ["a"]);
    assert!(std::sync::Arc::ptr_eq(&catalog.get("a").unwrap(), &kept));
    assert_eq!(watch.generation(), before);
}

#[test]
fn an_unusable_definition_is_refused_with_its_reason() {
    let mut catalog = Catalog::new();
    let mut refused = |tool: Tool| catalog.register(tool, echo).unwrap_err();

    assert!(matches!(
        refused(Tool {
            description: String::new(),
            ..pure("a")
        }),
        RegisterError::Description { .. }
    ));
    assert!(matches!(
        refused(Tool {
            parameters: json!({"type": "objekt"}),
            ..pure("a")
        }),
        RegisterError::Schema {
            part: "parameters",
            ..
        }
    ));
    assert!(matches!(
        refused(pure("a").with_output(json!({"$ref": "https://example.com/schema.json"}))),
        RegisterError::Schema { part: "output", .. }
    ));
    for pattern in [
        json!({"pattern": "("}),
        json!({"patternProperties": {"(": true}}),
    ] {
        let schema = json!({"type": "object", "properties": {"a": pattern}});
        let error = refused(Tool {
            parameters: schema,
            ..pure("a")
        });
        assert!(
            matches!(
                error,
                RegisterError::Schema {
                    source: SchemaError::Pattern { .. },
                    ..
                }
            ),
            "{error}"
        );
    }
    let optional = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    assert!(matches!(
        refused(Tool {
            parameters: optional,
            ..reader("a")
        }),
        RegisterError::Effects { .. }
    ));
    assert!(matches!(
        RegisterError::from(Tool::new("", "d", json!({})).unwrap_err()),
        RegisterError::Name(_)
    ));
    assert!(matches!(
        RegisterError::from(Tool::new("a b", "d", json!({})).unwrap_err()),
        RegisterError::Name(_)
    ));
}

#[test]
fn wrong_examples_are_found_by_a_proof_and_not_by_registration() {
    let mut catalog = Catalog::new();
    let found = |catalog: &mut Catalog, tool: Tool| {
        let entry = catalog.replace(tool, echo).unwrap();
        let error = entry.verify().unwrap_err();
        assert_eq!(
            catalog
                .problems()
                .into_iter()
                .map(|problem| problem.error)
                .collect::<Vec<_>>(),
            std::slice::from_ref(&error)
        );
        error
    };
    let error = found(
        &mut catalog,
        closed("a")
            .with_example(Example::new(json!({"text": "fine"})))
            .with_example(Example::new(json!({"txt": 1}))),
    );
    let RegisterError::Example {
        index: 1,
        violations,
        ..
    } = &error
    else {
        panic!("{error}")
    };
    assert!(violations.len() >= 2, "{violations:?}");
    let promised = closed("a").with_output(json!({"type": "string"}));
    let error = found(
        &mut catalog,
        promised.with_example(Example::new(json!({"text": "x"})).with_result(json!(1))),
    );
    assert!(
        matches!(error, RegisterError::Example { index: 0, .. }),
        "{error}"
    );
    let error = found(
        &mut catalog,
        reader("a").with_example(Example::new(json!({"path": "../x"}))),
    );
    assert!(
        matches!(error, RegisterError::Example { index: 0, .. }),
        "{error}"
    );
    let open = Tool {
        parameters: json!({}),
        ..pure("a")
    };
    let error = found(&mut catalog, open.with_example(Example::new(json!([1]))));
    assert!(
        matches!(error, RegisterError::Example { index: 0, .. }),
        "{error}"
    );

    let entry = catalog
        .replace(
            closed("a").with_example(Example::new(json!({"text": "fine"}))),
            echo,
        )
        .unwrap();
    assert_eq!((entry.verify(), catalog.problems()), (Ok(()), Vec::new()));
}

#[tokio::test]
async fn a_schema_that_does_not_compile_makes_its_tool_unavailable() {
    // No dialect has rules for values below an unknown keyword.
    let broken = json!({"type": "object", "properties": {"a": {"$ref": "#/x/a"}}, "x": {"a": {"type": "dict"}}});
    for (part, tool) in [
        (
            "parameters",
            Tool {
                parameters: broken.clone(),
                ..pure("t")
            },
        ),
        ("output", pure("t").with_output(broken.clone())),
    ] {
        let mut catalog = Catalog::new();
        let runs =
            async |_: ToolContext, _: serde_json::Value| -> Result<(), String> { panic!("it ran") };
        catalog.register(tool, runs).unwrap();
        for _ in 0..2 {
            let error = catalog
                .execute(&Host::new(), "t", json!({"a": 1}))
                .await
                .unwrap_err();
            assert!(
                matches!(error.kind(), ToolErrorKind::Unavailable { reason, .. } if reason.contains(part)),
                "{error}"
            );
            assert!(error.is_recoverable());
        }
        let problems = catalog.problems();
        let [problem] = &problems[..] else {
            panic!("{problems:?}")
        };
        assert!(
            matches!(&problem.error, RegisterError::Schema { part: named, .. } if *named == part),
            "{problem}"
        );
        assert_eq!((&*problem.name, &*problem.source.file), ("t", file!()));
    }
}

#[test]
fn replace_takes_the_place_and_unregister_frees_it() {
    let mut catalog = holding(pure("a"), echo);
    catalog.replace(pure("a").with_title("new"), echo).unwrap();
    assert_eq!(
        catalog.get("a").unwrap().tool().title.as_deref(),
        Some("new")
    );
    assert!(catalog.unregister("a"));
    assert!(!catalog.unregister("a"));
    assert!(!catalog.contains("a"));
    catalog.register(pure("a"), echo).unwrap();
}

#[test]
fn an_unknown_name_is_answered_with_near_ones() {
    let mut catalog = Catalog::new();
    for name in ["fs.read", "fs.write", "time.now"] {
        catalog.register(pure(name), echo).unwrap();
    }
    let missing = catalog.get("fs.raed").unwrap_err().kind().clone();
    let ToolErrorKind::NotFound { near } = missing else {
        panic!("{missing}")
    };
    assert_eq!(near.first().map(String::as_str), Some("fs.read"));
    let error = catalog.get("").unwrap_err();
    assert_eq!(error.tool_name(), "<unnamed>");
}

#[test]
fn a_misspelt_former_name_is_answered_with_the_present_one() {
    let mut catalog = Catalog::new();
    catalog
        .register(
            pure("text.measure").with_was(["words.count".parse().unwrap()]),
            echo,
        )
        .unwrap();
    let missing = catalog.get("words.cuont").unwrap_err().kind().clone();
    let ToolErrorKind::NotFound { near } = missing else {
        panic!("{missing}")
    };
    assert_eq!(near, ["text.measure"]);
}

#[test]
fn arguments_can_be_validated_without_running() {
    let mut catalog = Catalog::new();
    catalog
        .register(
            closed("a"),
            async |_: ToolContext, _: serde_json::Value| -> Result<(), String> { panic!("ran") },
        )
        .unwrap();
    catalog.validate("a", json!({"text": "x"})).unwrap();
    catalog
        .validate("a", r#"{"text": "x", "count": 1.0}"#)
        .unwrap();
    let wrong = catalog
        .validate("a", json!({"txet": 1, "count": 0}))
        .unwrap_err()
        .kind()
        .clone();
    let ToolErrorKind::InvalidArguments { violations } = wrong else {
        panic!("{wrong}")
    };
    assert_eq!(violations.len(), 3, "{violations:?}");
    assert!(
        violations
            .iter()
            .any(|violation| violation.near == ["text"]),
        "{violations:?}"
    );
    assert!(
        violations
            .iter()
            .any(|violation| violation.pointer == "/count"),
        "{violations:?}"
    );
    catalog.register(reader("read"), echo).unwrap();
    let stepping_out = catalog
        .validate("read", json!({"path": "../x"}))
        .unwrap_err();
    assert!(
        matches!(stepping_out.kind(), ToolErrorKind::InvalidArguments { violations } if violations[0].pointer == "/path")
    );
}

#[tokio::test]
async fn watchers_are_woken_by_every_change() {
    let mut catalog = Catalog::new();
    let mut watch = catalog.subscribe();
    catalog.register(pure("a"), echo).unwrap();
    assert_eq!(watch.changed().await, Some(1));
    catalog.replace(pure("a"), echo).unwrap();
    catalog.unregister("a");
    assert_eq!(watch.changed().await, Some(3), "two changes seen as one");
    drop(catalog);
    assert_eq!(watch.changed().await, None);
}

fn define(name: &str) -> Result<Tool, tools::DefinitionError> {
    Ok(
        Tool::new(name, "A submitted tool.", json!({"type": "object"}))?
            .with_effects(Effects::Pure),
    )
}

struct Nothing;

impl tools::Handler for Nothing {
    fn call<'a>(&'a self, _: ToolContext, _: tools::Input) -> tools::HandlerFuture<'a> {
        tools::HandlerFuture::ready(Ok(tools::ToolResult::text("nothing")))
    }
}

static FIRST: Submission = Submission {
    name: "x",
    was: &[],
    source: Source::new("one", "1.0.0", "one.rs", 1),
    definition: || define("x"),
    handler: &Nothing,
};
static SECOND: Submission = Submission {
    name: "x",
    was: &[],
    source: Source::new("two", "2.0.0", "two.rs", 2),
    definition: || define("x"),
    handler: &Nothing,
};
static OTHER: Submission = Submission {
    name: "y",
    was: &[],
    source: Source::new("two", "2.0.0", "two.rs", 3),
    definition: || define("y"),
    handler: &Nothing,
};
static RENAMED: Submission = Submission {
    name: "z",
    was: &[],
    source: Source::new("two", "2.0.0", "two.rs", 4),
    definition: || define("w"),
    handler: &Nothing,
};
static PANICS: Submission = Submission {
    name: "p",
    was: &[],
    source: Source::new("two", "2.0.0", "two.rs", 5),
    definition: || panic!("no definition today"),
    handler: &Nothing,
};

#[test]
fn submissions_are_added_all_or_nothing_and_once() {
    let mut catalog = Catalog::new();
    catalog.submit(&[&FIRST, &FIRST]).unwrap();
    catalog.submit(&[&FIRST]).unwrap();
    let error = catalog.submit(&[&OTHER, &SECOND]).unwrap_err();
    assert_eq!(names(&catalog), ["x"], "the other one was not added alone");
    let text = error.to_string();
    assert!(
        text.contains("one 1.0.0 (one.rs:1)") && text.contains("two 2.0.0 (two.rs:2)"),
        "{text}"
    );
    assert!(Catalog::new().submit(&[&FIRST, &SECOND]).is_err());
}

#[test]
fn a_submission_that_cannot_be_built_is_refused_and_does_not_panic() {
    let mut catalog = Catalog::new();
    assert!(matches!(
        catalog.submit(&[&RENAMED]),
        Err(RegisterError::Renamed { .. })
    ));
    let error = catalog.submit(&[&PANICS]).unwrap_err();
    assert!(error.to_string().contains("no definition today"), "{error}");
    assert!(catalog.list().is_empty());
}

#[tokio::test]
async fn a_call_under_way_is_not_disturbed_by_a_change() {
    let mut catalog = holding(pure("a"), echo);
    let call = catalog.execute(&Host::new(), "a", json!({"x": 1}));
    catalog.unregister("a");
    assert_eq!(call.await.unwrap().structured, Some(json!({"x": 1}).into()));
}

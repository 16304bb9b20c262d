//! Properties of templates and effects.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use protocol::{
    Access, Declared, Effects, EffectsError, InvalidTarget, Normaliser, Target, TargetError,
    Template, ToolName,
};
use serde_json::{Value, json};

use crate::sample::config;

fn tool() -> ToolName {
    ToolName::new("demo").unwrap()
}

fn template() -> impl Strategy<Value = Template> {
    let part = select(vec![
        "{a}", "{b}", "{c|path}", "{d|host}", "x", "/", ":", "{{", "}}", "é", "-",
    ]);
    (select(vec!["fs", "git", "net"]), vec(part, 1..5))
        .prop_filter_map("not a template", |(scheme, parts)| {
            format!("{scheme}:{}", parts.concat()).parse().ok()
        })
}

fn effects() -> impl Strategy<Value = Effects> {
    let templates = || vec(template(), 0..3);
    let declared = (
        templates(),
        templates(),
        templates(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(reads, writes, destroys, open_world, idempotent)| {
            Effects::Declared(Declared {
                reads,
                writes,
                destroys,
                open_world,
                idempotent,
                foreign: false,
            })
        });
    prop_oneof![1 => Just(Effects::Undeclared), 1 => Just(Effects::Pure), 8 => declared]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[ab./\\\\:]{0,6}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!("https://a.example/x")),
    ];
    let key = select(vec![
        "a",
        "b",
        "c",
        "d",
        "properties",
        "default",
        "required",
    ]);
    leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((key.clone(), inner), 0..5).prop_map(object)
        ]
    })
}

fn object(members: Vec<(&'static str, Value)>) -> Value {
    Value::Object(
        members
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

fn targets(effects: Value, arguments: Value) -> Result<Vec<String>, TargetError> {
    let effects: Effects = serde_json::from_value(effects).unwrap();
    let parameters = json!({"properties": {"path": {"default": "README.md"}}});
    Ok(effects
        .targets(&tool(), &parameters, &arguments)?
        .iter()
        .map(ToString::to_string)
        .collect())
}

#[test]
fn a_repeated_key_is_an_error() {
    let effects =
        serde_json::from_str::<Effects>(r#"{"writes": ["fs:{path}"], "writes": ["fs:tmp"]}"#);
    assert!(
        effects
            .unwrap_err()
            .to_string()
            .contains("duplicate field `writes`")
    );
}

#[test]
fn all_targets_of_a_call_are_counted() {
    let effects: Effects =
        serde_json::from_value(json!({"reads": ["fs:{paths}"], "writes": ["fs:log"]})).unwrap();
    let found = |count| {
        let paths: Vec<_> = (0..count).map(|number| format!("a{number}")).collect();
        effects.targets(&tool(), &json!({}), &json!({"paths": paths}))
    };
    assert_eq!(
        found(Effects::MAX_TARGETS - 1).unwrap().len(),
        Effects::MAX_TARGETS
    );
    assert!(matches!(
        found(Effects::MAX_TARGETS),
        Err(TargetError::TooMany { .. })
    ));
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn a_template_reads_back_from_its_text(template in template()) {
        prop_assert_eq!(&template.to_string().parse::<Template>().unwrap(), &template);
        let json = serde_json::to_value(&template).unwrap();
        prop_assert_eq!(serde_json::from_value::<Template>(json).unwrap(), template);
    }

    #[test]
    fn effects_read_back_from_their_json(effects in effects()) {
        let json = serde_json::to_string(&effects).unwrap();
        prop_assert_eq!(serde_json::from_str::<Effects>(&json).unwrap(), effects);
    }

    #[test]
    fn no_text_makes_a_template_panic(text in prop_oneof![any::<String>(), "[ab{}|/.:\\\\]{0,12}"]) {
        for scheme in ["", "fs:", "git:"] {
            if let Ok(template) = format!("{scheme}{text}").parse::<Template>() {
                prop_assert_eq!(template.to_string().parse::<Template>(), Ok(template));
            }
        }
        let _ = serde_json::from_value::<Effects>(json!({"reads": [text]}));
    }

    #[test]
    fn no_arguments_make_effects_panic(effects in effects(), parameters in any_json(), arguments in any_json()) {
        let _ = effects.check(&parameters, &[]);
        let result = effects.targets(&tool(), &parameters, &arguments);
        if let Ok(targets) = result {
            prop_assert_eq!(targets.is_empty(), effects.is_pure());
            if effects.is_read_only() {
                prop_assert!(targets.iter().all(|target| target.access() == Access::Read));
            }
            // All targets obey the rules of `Target::new`.
            for target in targets {
                prop_assert_eq!(Target::new(target.access(), target.scheme(), target.value()), Ok(target));
            }
        }
    }

    #[test]
    fn checked_effects_miss_no_argument(effects in effects(), parameters in any_json(), arguments in any_json()) {
        let names = ["a", "b", "c", "d"];
        let required: Vec<&str> = names.into_iter().filter(|name| parameters.get(name).is_some()).collect();
        let properties = object(names.into_iter().map(|name| (name, json!({"default": name}))).collect());
        let parameters = json!({"properties": properties, "required": required});
        if effects.check(&parameters, &[]).is_ok() && required.iter().all(|name| arguments.get(name).is_some()) {
            let result = effects.targets(&tool(), &parameters, &arguments);
            let is_missing = matches!(result, Err(TargetError::Missing { .. }));
            prop_assert!(!is_missing);
        }
    }

    #[test]
    fn targets_follow_from_the_arguments(a in vec("[a-z]{1,3}", 1..4), b in vec(any::<i32>(), 1..4), c in "[a-z]{1,3}") {
        let effects: Effects = serde_json::from_value(json!({"writes": ["item:{a}/{b}-{c}"]})).unwrap();
        let found = effects.targets(&tool(), &json!({}), &json!({"a": a, "b": b, "c": c})).unwrap();
        let expected: BTreeSet<Target> = a
            .iter()
            .flat_map(|a| b.iter().map(move |b| (a, b)))
            .map(|(a, b)| Target::new(Access::Write, "item", format!("{a}/{b}-{c}")).unwrap())
            .collect();
        prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_path_argument_is_normalised(path in "[ab./]{1,10}") {
        let found = targets(json!({"reads": ["fs:{path}"]}), json!({"path": path}));
        match Normaliser::Path.apply(&path) {
            Ok(normal) => prop_assert_eq!(found.unwrap(), [format!("fs:read:{normal}")]),
            Err(_) => prop_assert!(found.is_err()),
        }
    }
}

#[test]
fn empty_effects_are_unbounded() {
    assert_eq!(
        targets(Value::Null, json!({})).unwrap(),
        ["world:write:demo"]
    );
    assert_eq!(
        targets(json!({"open_world": true}), json!({})).unwrap(),
        ["world:write:demo"]
    );
    assert_eq!(targets(json!({}), json!({})).unwrap(), ["world:write:demo"]);
    assert!(targets(json!("pure"), json!({})).unwrap().is_empty());
    assert_eq!(
        targets(
            json!({"reads": ["clock:now"], "open_world": true}),
            json!(null)
        )
        .unwrap(),
        ["clock:read:now"]
    );
}

#[test]
fn a_default_stands_in_for_an_absent_argument_only() {
    let effects = json!({"reads": ["fs:{path}"]});
    assert_eq!(
        targets(effects.clone(), json!({})).unwrap(),
        ["fs:read:README.md"]
    );
    assert!(matches!(
        targets(effects.clone(), json!({"path": null})),
        Err(TargetError::NotScalar { found: "null", .. })
    ));
    assert!(matches!(
        targets(effects, json!("x")),
        Err(TargetError::NotAnObject { .. })
    ));
    assert!(matches!(
        targets(json!({"reads": ["fs:{other}"]}), json!({})),
        Err(TargetError::Missing { .. })
    ));
}

#[test]
fn an_argument_cannot_escape_the_text_before_it() {
    let effects = json!({"writes": ["fs:out/{path}"]});
    assert_eq!(
        targets(effects.clone(), json!({"path": "../a"})).unwrap(),
        ["fs:write:a"]
    );
    for path in ["/etc/passwd", "C:/x", "../../a", "a\\b", "a\u{0}"] {
        assert!(
            targets(effects.clone(), json!({"path": path})).is_err(),
            "{path:?}"
        );
    }
}

#[test]
fn lists_are_bounded_and_not_empty() {
    let effects = json!({"reads": ["item:{a}/{b}"]});
    let many: Vec<u32> = (0..40).collect();
    assert!(matches!(
        targets(effects.clone(), json!({"a": many, "b": many})),
        Err(TargetError::TooMany { .. })
    ));
    assert!(matches!(
        targets(effects.clone(), json!({"a": [], "b": 1})),
        Err(TargetError::EmptyList { .. })
    ));
    assert!(matches!(
        targets(effects.clone(), json!({"a": [["x"]], "b": 1})),
        Err(TargetError::NotScalar { .. })
    ));
    assert!(targets(effects, json!({"a": "x".repeat(10_000), "b": 1})).is_err());
}

#[test]
fn all_templates_of_a_call_share_one_limit() {
    let numbers = |range: std::ops::Range<usize>| Value::from(range.collect::<Vec<_>>());
    let one = json!({"reads": ["item:{a}"]});
    assert_eq!(
        targets(one.clone(), json!({"a": numbers(0..1024)}))
            .unwrap()
            .len(),
        Effects::MAX_TARGETS
    );
    assert!(matches!(
        targets(one, json!({"a": numbers(0..1025)})),
        Err(TargetError::TooMany { .. })
    ));
    let two = json!({"reads": ["item:{a}"], "writes": ["item:{b}"]});
    assert_eq!(
        targets(
            two.clone(),
            json!({"a": numbers(0..1000), "b": numbers(0..24)})
        )
        .unwrap()
        .len(),
        1024
    );
    let error = targets(two, json!({"a": numbers(0..1000), "b": numbers(0..25)})).unwrap_err();
    assert_eq!(
        error,
        TargetError::TooMany {
            template: "item:{b}".to_owned()
        }
    );
}

#[test]
fn an_argument_is_as_long_as_a_target_may_be() {
    let text = |length| Value::from("x".repeat(length));
    let one = json!({"reads": ["item:{a}"]});
    assert_eq!(
        targets(one, json!({"a": text(Target::MAX_LENGTH)})).unwrap()[0].len(),
        10 + Target::MAX_LENGTH
    );
    let two = json!({"reads": ["item:{a}/{b}"]});
    let TargetError::Argument { field, reason } =
        targets(two.clone(), json!({"a": "x", "b": text(8193)})).unwrap_err()
    else {
        panic!("the argument is not to blame");
    };
    assert_eq!(
        (&*field, reason),
        ("b", InvalidTarget::TooLong { length: 8193 })
    );
    let error = targets(two, json!({"a": text(4096), "b": text(4096)})).unwrap_err();
    assert!(
        matches!(
            error,
            TargetError::Target {
                reason: InvalidTarget::TooLong { length: 8193 },
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn an_error_points_at_its_argument() {
    let pointer = |arguments| {
        targets(json!({"reads": ["item:{a/b~c}"]}), arguments)
            .unwrap_err()
            .pointer()
    };
    for refused in [json!(null), json!([]), json!("a/../b")] {
        assert_eq!(pointer(json!({"a/b~c": refused})), "/a~1b~0c");
    }
    assert_eq!(pointer(json!({})), "");
    let found = |value: Value| match targets(json!({"reads": ["item:{a}"]}), json!({"a": value})) {
        Err(TargetError::NotScalar { found, .. }) => found,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        [json!(null), json!([[]]), json!({})].map(found),
        ["null", "a list", "an object"]
    );
}

#[test]
fn numbers_and_booleans_print_as_json_and_equal_numbers_alike() {
    let effects = json!({"reads": ["item:{a}/{b}"]});
    assert_eq!(
        targets(effects, json!({"a": [5, 5.0, 0.5], "b": true})).unwrap(),
        ["item:read:0.5/true", "item:read:5/true"]
    );
}

#[test]
fn the_schema_has_to_provide_every_field() {
    let effects: Effects =
        serde_json::from_value(json!({"reads": ["fs:{path}"], "writes": ["net:{url|host}"]}))
            .unwrap();
    let check = |properties: Value, required: Value| {
        effects.check(
            &json!({"properties": properties, "required": required}),
            &[],
        )
    };

    assert_eq!(
        check(
            json!({"path": {"default": "."}, "url": true}),
            json!(["url"])
        ),
        Ok(())
    );
    assert!(matches!(
        check(json!({"path": {}, "url": {}}), json!(["url"])),
        Err(EffectsError::Optional { .. })
    ));
    assert!(matches!(
        check(
            json!({"path": {"default": null}, "url": {}}),
            json!(["url"])
        ),
        Err(EffectsError::Default { .. })
    ));
    assert!(matches!(
        check(
            json!({"path": {}, "url": {"default": "x"}}),
            json!(["path"])
        ),
        Err(EffectsError::Default { .. })
    ));
    assert!(
        matches!(effects.check(&json!({}), &[]), Err(EffectsError::UnknownField { known, .. }) if known.is_empty())
    );
    let error = check(json!({"url": {}, "file": {}}), json!(["path", "url"])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the template `fs:{path}` uses `path`, which is not a top-level parameter; use one of: file, url"
    );
    assert_eq!(
        Effects::Declared(Declared::default()).check(&json!({}), &[]),
        Err(EffectsError::Empty)
    );
}

#[test]
fn effects_answer_the_questions_about_a_tool() {
    let facts = |effects: Value| {
        let effects: Effects = serde_json::from_value(effects).unwrap();
        (
            effects.is_read_only(),
            effects.is_idempotent(),
            effects.is_destructive(),
            effects.is_open_world(),
        )
    };
    assert_eq!(facts(json!(null)), (false, false, true, true));
    assert_eq!(facts(json!("pure")), (true, true, false, false));
    assert_eq!(
        facts(json!({"reads": ["fs:{path}"]})),
        (true, true, false, false)
    );
    assert_eq!(
        facts(json!({"writes": ["fs:{path}"]})),
        (false, false, false, false)
    );
    assert_eq!(
        facts(json!({"reads": ["a:b"], "destroys": ["fs:{path}"], "idempotent": true})),
        (false, true, true, false)
    );
    assert_eq!(
        facts(json!({"open_world": true})),
        (false, false, true, true)
    );
    assert_eq!(
        facts(json!({"reads": ["a:b"], "open_world": true})),
        (true, true, false, true)
    );
    assert!(Effects::Undeclared.is_undeclared() && !Effects::Pure.is_undeclared());
}

#[test]
fn undeclared_fields_are_absent_from_the_json() {
    for effects in [
        json!("pure"),
        json!({"reads": ["a:b"]}),
        json!({"writes": ["a:b"], "idempotent": true}),
    ] {
        let parsed: Effects = serde_json::from_value(effects.clone()).unwrap();
        assert_eq!(serde_json::to_value(parsed).unwrap(), effects);
    }
}

#[test]
fn effects_are_shown_to_people() {
    let shown = |effects: Value| {
        serde_json::from_value::<Effects>(effects)
            .unwrap()
            .to_string()
    };
    assert_eq!(shown(json!(null)), "undeclared");
    assert_eq!(shown(json!("pure")), "pure");
    let all =
        json!({"reads": ["a:b"], "writes": ["fs:{p}"], "open_world": true, "idempotent": true});
    assert_eq!(
        shown(all),
        "reads a:b, writes fs:{p}, open world, idempotent"
    );
    let declared = Declared {
        reads: vec!["a:b".parse().unwrap()],
        ..Declared::default()
    };
    assert_eq!(Effects::from(declared).to_string(), "reads a:b");
    assert_eq!(
        format!("{:?}", "a:{b|path}".parse::<Template>().unwrap()),
        "Template(a:{b|path})"
    );
}

#[test]
fn misspelt_effects_are_refused_with_the_reason() {
    let error = |json: Value| {
        serde_json::from_value::<Effects>(json)
            .unwrap_err()
            .to_string()
    };
    assert!(error(json!({"read": ["fs:{path}"]})).contains("unknown field `read`"));
    assert!(error(json!({"reads": ["net:{url|hots}"]})).contains("unknown normaliser \"hots\""));
    assert!(error(json!("none")).contains("pure"));
}

#[test]
fn malformed_templates_are_refused() {
    for text in [
        "",
        "fs",
        "fs:",
        ":x",
        "FS:x",
        "fs:{",
        "fs:}",
        "fs:{}",
        "fs:{ }",
        "fs:{a",
        "fs:a}",
        "fs:{a{b}}",
        "fs:{a|}",
        "fs:/{a}",
        "fs:../{a}",
        "git:../{a}",
        "git:a\nb",
    ] {
        assert!(text.parse::<Template>().is_err(), "{text:?}");
    }
    let template: Template = "item:{{{a}}}".parse().unwrap();
    assert_eq!(template.fields().collect::<Vec<_>>(), ["a"]);
}

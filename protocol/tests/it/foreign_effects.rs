//! Effects that the user of a tool declares, and not its author.

use protocol::{Effects, EffectsError, TargetError, ToolName};
use serde_json::{Value, json};

fn effects(templates: Value) -> Effects {
    let mut effects = templates;
    effects["foreign"] = true.into();
    serde_json::from_value(effects).unwrap()
}

fn targets(effects: &Effects, arguments: Value) -> Result<Vec<String>, TargetError> {
    let parameters = json!({"properties": {"from": {"default": "me@b.c"}}});
    let tool = ToolName::new("mcp:m/send").unwrap();
    Ok(effects
        .targets(&tool, &parameters, &arguments)?
        .iter()
        .map(ToString::to_string)
        .collect())
}

const ANYWHERE: &str = "world:write:mcp:m/send";

#[test]
fn an_argument_that_is_absent_null_or_empty_is_no_target() {
    let mail = effects(json!({"writes": ["mail:{recipients}", "mail:{cc}", "mail:{bcc}"]}));
    for nothing in [
        json!({}),
        json!({"cc": null}),
        json!({"cc": ""}),
        json!({"cc": [], "bcc": [null, ""]}),
    ] {
        let mut arguments = nothing;
        arguments["recipients"] = json!(["a@b.c", ""]);
        assert_eq!(targets(&mail, arguments).unwrap(), ["mail:write:a@b.c"]);
    }
    let all = json!({"recipients": ["a@b.c"], "cc": "d@e.f", "bcc": ["evil@x.y"]});
    assert_eq!(
        targets(&mail, all).unwrap(),
        [
            "mail:write:a@b.c",
            "mail:write:d@e.f",
            "mail:write:evil@x.y"
        ]
    );
}

#[test]
fn a_call_without_any_target_counts_as_a_write_anywhere() {
    let mail = effects(json!({"writes": ["mail:{to}"]}));
    assert_eq!(targets(&mail, json!({"to": []})).unwrap(), [ANYWHERE]);
    let page = effects(json!({"reads": ["net:{url|host}"]}));
    assert_eq!(targets(&page, json!({})).unwrap(), [ANYWHERE]);
    assert_eq!(
        targets(&page, json!({"url": "https://x.y/a"})).unwrap(),
        ["net:read:x.y"]
    );
    let pair = effects(json!({"writes": ["git:{owner}/{repo}"]}));
    assert_eq!(targets(&pair, json!({"owner": "a"})).unwrap(), [ANYWHERE]);
    assert_eq!(
        targets(&pair, json!({"owner": "a", "repo": "b"})).unwrap(),
        ["git:write:a/b"]
    );
}

#[test]
fn a_nested_argument_can_be_named() {
    let mail = effects(
        json!({"writes": ["mail:{attachments[].to}", "mail:{options.reply.to}", "mail:{a.b}"]}),
    );
    let arguments = json!({
        "attachments": [{"to": "a@b.c"}, {"to": ["d@e.f", "g@h.i"]}, {"name": "x"}], "options": {"reply": {"to": "j@k.l"}}, "a.b": "m@n.o",
    });
    let expected = [
        "mail:write:a@b.c",
        "mail:write:d@e.f",
        "mail:write:g@h.i",
        "mail:write:j@k.l",
        "mail:write:m@n.o",
    ];
    assert_eq!(targets(&mail, arguments).unwrap(), expected);
}

#[test]
fn a_nested_argument_in_another_form_hides_no_target() {
    let mail = effects(json!({"writes": ["mail:{attachments[].to}"]}));
    assert!(targets(&mail, json!({"attachments": "[{\"to\":\"evil@x.y\"}]"})).is_err());
    // An object is no text of a target.
    assert!(targets(&mail, json!({"attachments": [{"to": {"x": "evil@x.y"}}]})).is_err());
}

#[test]
fn a_writing_call_with_an_unnamed_address_counts_as_a_write_anywhere() {
    let mail = effects(json!({"writes": ["mail:{recipients}"], "reads": ["db:{notes.path}"]}));
    let with = |name: &str, value: Value| {
        let mut arguments = json!({"recipients": ["a@b.c"], "subject": "Hello", "body": "Write to a@b.c, or see https://b.c."});
        arguments[name] = value;
        targets(&mail, arguments)
            .unwrap()
            .contains(&ANYWHERE.to_owned())
    };
    for (name, value) in [
        ("bcc", json!(["evil@x.y"])),
        ("bcc", json!("a, Evil <evil@x.y>")),
        ("options", json!({"headers": [{"value": "evil@x.y"}]})),
        ("options", json!({"evil@x.y": true})),
        ("options", json!("{\"bcc\": \"evil@x.y\"}")),
        ("callback", json!("https://x.y")),
        ("image", json!("/etc/passwd")),
        ("attachment", json!("notes/secret.txt")),
        ("phone", json!("+49 123 456789")),
    ] {
        assert!(with(name, value.clone()), "{name} {value}");
    }
    for (name, value) in [
        ("notes", json!({"path": "a/b.txt"})),
        ("label", json!("kind/bug")),
        ("cc", json!([])),
        ("n", json!(5)),
    ] {
        assert!(!with(name, value.clone()), "{name} {value}");
    }
    let page = effects(json!({"reads": ["db:{table}"]}));
    assert_eq!(
        targets(&page, json!({"table": "t", "url": "https://x.y"})).unwrap(),
        ["db:read:t"]
    );
}

#[test]
fn several_addresses_in_one_text_count_as_a_write_anywhere() {
    let mail = effects(json!({"writes": ["mail:{to}"]}));
    for several in ["evil@x.y, a@b.c", "evil@x.y a@b.c", "a@b.c <evil@x.y>"] {
        assert!(
            targets(&mail, json!({"to": several}))
                .unwrap()
                .contains(&ANYWHERE.to_owned()),
            "{several}"
        );
    }
    assert!(targets(&mail, json!({"to": "a@b.c\nbcc: evil@x.y"})).is_err());
}

#[test]
fn a_field_is_an_argument_of_the_schema_at_any_depth() {
    let schema = json!({
        "properties": {
            "cc": {"type": "array"}, "attachments": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/attachment"}}, {"type": "null"}]},
            "n": {"default": null},
        },
        "$defs": {"attachment": {"properties": {"to": {"type": "string"}, "next": {"$ref": "#/$defs/attachment"}}}},
    });
    for field in [
        "cc",
        "attachments[].to",
        "attachments.to",
        "attachments[].next.next.to",
        "n",
    ] {
        effects(json!({"writes": [format!("mail:{{{field}}}")]}))
            .check(&schema, &[])
            .unwrap();
    }
    for field in ["ccc", "attachments[].too", "cc.to", "to"] {
        let error = effects(json!({"writes": [format!("mail:{{{field}}}")]}))
            .check(&schema, &[])
            .unwrap_err();
        assert!(
            matches!(error, EffectsError::UnknownField { .. }),
            "{field}"
        );
    }
}

#[test]
fn an_author_names_required_arguments_as_before() {
    let own: Effects = serde_json::from_value(json!({"writes": ["mail:{cc}"]})).unwrap();
    assert!(matches!(
        own.check(&json!({"properties": {"cc": {}}}), &[]),
        Err(EffectsError::Optional { .. })
    ));
    assert!(targets(&own, json!({})).is_err() && targets(&own, json!({"cc": []})).is_err());
}

//! The definition of a tool.

use serde::Deserialize;
use serde_json::{Value, json};
use tools::context::Need;
use tools::protocol::Declared;
use tools::{
    Catalog, DefinitionError, Effects, Host, JsonSchema, RegisterError, Submission, ToolContext,
    tool,
};

use super::tool;

/// Reads part of a text.
///
/// Lines count from 1:
///
/// - `first` is included,
/// - and so is `last`.
#[tool(pure)]
fn part(
    /// The text.
    text: String,
    /// The first line.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    first: u32,
    /// The last line.
    /// All when absent.
    last: Option<u32>,
    cx: &ToolContext,
) -> String {
    format!("{text} {first} {last:?} {}", cx.depth())
}

fn one() -> u32 {
    1
}

/// Tells the time.
#[tool(pure)]
fn now() {}

struct Root;

mod service {
    pub(crate) struct Client<T>(pub(crate) T);
}

/// Saves a page.
#[tool(
    name = "web.save",
    title = "Save a page",
    reads = "net:{url|host}",
    writes = ["fs:{path}", "fs:log/{path}"],
    destroys = "cache:{url|host}/{{all}}",
    reads = "fs:settings.json",
    open_world,
    idempotent,
    timeout = "2m",
    max_output = "64KiB",
    tags = ["web", "files"],
    needs(Root, service::Client<u8>),
    example({"url": "https://example.org", "path": "a"} => "ok"),
    example({"url": "https://example.org", "path": "b"}),
    audit,
    crate = ::tools,
)]
fn save(
    /// The page.
    url: String,
    /// The file.
    path: String,
) {
    drop((url, path));
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// The text to search.
    query: String,
    /// How many to return.
    #[serde(default)]
    limit: u32,
}

/// Searches.
#[tool(reads = "index:{query}")]
fn search(#[args] search: Search) -> String {
    format!("{} {}", search.query, search.limit)
}

#[test]
fn the_description_is_the_whole_doc_comment() {
    let expected = "Reads part of a text.\n\nLines count from 1:\n\n- `first` is included,\n- and so is `last`.";
    assert_eq!(tool(&PART_TOOL).description, expected);
}

#[test]
fn the_schema_is_closed_and_described_and_leaves_the_context_out() {
    assert_eq!(
        tool(&PART_TOOL).parameters,
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "The text."},
                "first": {"type": "integer", "format": "uint32", "minimum": 1, "default": 1, "description": "The first line."},
                "last": {
                    "type": ["integer", "null"], "format": "uint32", "minimum": 0,
                    "description": "The last line.\nAll when absent.",
                },
            },
            "required": ["text"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn a_tool_without_arguments_has_an_empty_object() {
    let expected = json!({"type": "object", "properties": {}, "additionalProperties": false});
    assert_eq!(tool(&NOW_TOOL).parameters, expected);
}

#[test]
fn a_plain_tool_has_the_canonical_three_and_its_effects() {
    let value = serde_json::to_value(tool(&NOW_TOOL)).unwrap();
    let Value::Object(members) = value else {
        panic!("{value}")
    };
    let mut keys: Vec<_> = members.keys().collect();
    keys.sort();
    assert_eq!(keys, ["description", "effects", "name", "parameters"]);
    assert_eq!(members["effects"], "pure");
}

#[test]
fn every_attribute_arrives() {
    let save = tool(&SAVE_TOOL);
    assert_eq!(
        (save.name.as_str(), save.title.as_deref(), save.audit),
        ("web.save", Some("Save a page"), true)
    );
    assert_eq!(
        (save.limits.timeout_ms, save.limits.max_output_bytes),
        (Some(120_000), Some(65_536))
    );
    assert_eq!(save.tags, ["web", "files"]);
    let templates = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    let declared = Declared {
        reads: templates(&["net:{url|host}", "fs:settings.json"]),
        writes: templates(&["fs:{path}", "fs:log/{path}"]),
        destroys: templates(&["cache:{url|host}/{{all}}"]),
        open_world: true,
        idempotent: true,
        foreign: false,
    };
    assert_eq!(save.effects, Effects::Declared(declared));
    assert_eq!(
        save.examples[0].arguments,
        json!({"url": "https://example.org", "path": "a"})
    );
    assert_eq!(
        save.examples
            .iter()
            .map(|example| &example.result)
            .collect::<Vec<_>>(),
        [&Some(json!("ok")), &None]
    );
}

#[test]
fn needs_are_those_of_the_handler() {
    let ids = |needs: &[Need]| needs.iter().map(Need::id).collect::<Vec<_>>();
    assert_eq!(
        ids(SAVE_TOOL.handler.needs()),
        ids(&[Need::new::<Root>(), Need::new::<service::Client<u8>>()])
    );
    assert!(NOW_TOOL.handler.needs().is_empty());
}

#[test]
fn the_source_is_the_place_of_the_attribute() {
    let source = &NOW_TOOL.source;
    assert_eq!(source.crate_name, env!("CARGO_PKG_NAME"));
    assert_eq!(source.version, env!("CARGO_PKG_VERSION"));
    assert!(source.file.ends_with("definition.rs"), "{source}");
    let line = include_str!("definition.rs")
        .lines()
        .position(|line| line == "fn now() {}")
        .unwrap();
    assert_eq!(source.line as usize, line);
}

#[test]
fn the_schema_of_an_args_struct_is_taken_over() {
    let parameters = tool(&SEARCH_TOOL).parameters;
    assert_eq!(parameters["required"], json!(["query"]));
    assert_eq!(parameters["properties"]["limit"]["default"], 0);
    assert_eq!(parameters["additionalProperties"], false);
    assert!(parameters.get("title").is_none());
}

#[test]
fn the_function_can_still_be_called() {
    assert_eq!(part("a".to_owned(), 2, None, &Host::new()), "a 2 None 0");
    assert_eq!(
        search(Search {
            query: "q".to_owned(),
            limit: 1
        }),
        "q 1"
    );
    now();
}

#[test]
fn tools_are_linked_by_being_compiled() {
    let catalog = Catalog::linked();
    assert!(catalog.contains("web.save") && catalog.contains("part"));
}

/// Returns the error of registering a tool.
fn refused(submission: &'static Submission) -> RegisterError {
    Catalog::new().submit(&[submission]).unwrap_err()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Silent {
    /// Has one.
    described: u8,
    bare: u8,
}

/// Takes a struct with an undocumented field.
#[tool(pure)]
fn silent(#[args] _args: Silent) {}

#[derive(Deserialize, JsonSchema)]
struct Open {}

/// Takes a struct that takes anything.
#[tool(pure)]
fn open(#[args] _args: Open) {}

/// Takes something else than a struct.
#[tool(pure)]
fn list(#[args] _args: Vec<u8>) {}

/// Names a field that the struct does not have.
#[tool(reads = "index:{term}")]
fn elsewhere(#[args] search: Search) {
    drop(search);
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Maybe {
    /// The path.
    path: Option<String>,
}

/// Names an argument that may be left out.
#[tool(reads = "fs:{path}")]
fn maybe(#[args] _args: Maybe) {}

/// Names an argument with a default that is not a target.
#[tool(reads = "fs:{path}")]
fn nowhere(
    /// The path.
    #[serde(default = "none")]
    path: Option<String>,
) {
    drop(path);
}

fn none() -> Option<String> {
    None
}

/// Reads the root unless a path is given.
#[tool(reads = "fs:{path}")]
fn rooted(
    /// The path.
    #[serde(default = "root")]
    path: Option<String>,
) {
    drop(path);
}

fn root() -> Option<String> {
    Some(".".to_owned())
}

/// Shows how not to use it.
#[tool(pure, example({"colour": "red"}))]
fn misused() {}

#[test]
fn a_definition_that_the_macro_could_not_see_through_is_refused() {
    let definition = |error| match error {
        RegisterError::Definition { source, .. } => source,
        other => panic!("{other}"),
    };
    assert!(
        matches!(definition(refused(&SILENT_TOOL)), DefinitionError::Undocumented { field, .. } if field == "bare")
    );
    assert!(
        matches!(definition(refused(&OPEN_TOOL)), DefinitionError::Open { tool } if tool == "open")
    );
    assert!(
        matches!(definition(refused(&LIST_TOOL)), DefinitionError::NotAnObject { tool } if tool == "list")
    );
}

#[test]
fn a_template_that_the_schema_cannot_fill_is_refused() {
    for (submission, field) in [
        (&ELSEWHERE_TOOL, "`term`"),
        (&MAYBE_TOOL, "`path`"),
        (&NOWHERE_TOOL, "`path`"),
    ] {
        let error = refused(submission);
        assert!(
            matches!(error, RegisterError::Effects { .. }) && error.to_string().contains(field),
            "{error}"
        );
    }
}

#[test]
fn an_absent_argument_stands_for_its_default() {
    let mut catalog = Catalog::new();
    catalog.submit(&[&ROOTED_TOOL]).unwrap();
    let rooted = catalog.get("rooted").unwrap();
    assert_eq!(
        rooted.targets(&json!({}).into(), &Host::new()).unwrap()[0].to_string(),
        "fs:read:."
    );
    // `null` is a value, and no target.
    assert!(
        rooted
            .targets(&json!({"path": null}).into(), &Host::new())
            .is_err()
    );
}

#[test]
fn an_example_that_its_tool_would_refuse_is_found_by_a_proof() {
    let mut catalog = Catalog::new();
    catalog.submit(&[&MISUSED_TOOL]).unwrap();
    let error = catalog.get("misused").unwrap().verify().unwrap_err();
    assert!(
        matches!(error, RegisterError::Example { index: 0, .. }),
        "{error}"
    );
}

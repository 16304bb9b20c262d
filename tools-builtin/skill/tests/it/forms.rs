//! The ways in which people write skills. Each form is one that was seen; its text is our own.

use serde_json::json;
use tools_testkit::TempWorkspace;

use crate::setup::{approved, found, host};

/// A way to write a skill.
struct Form {
    /// The place where the form was seen.
    seen: &'static str,
    /// The path below the folder of skills.
    path: &'static str,
    text: &'static [u8],
    name: &'static str,
    description: &'static str,
    /// The faults, each by a part of its text.
    faults: &'static [&'static str],
}

macro_rules! form {
    ($seen:literal, $path:literal, $text:expr, $name:literal, $description:literal, $faults:expr) => {
        Form {
            seen: $seen,
            path: $path,
            text: $text,
            name: $name,
            description: $description,
            faults: &$faults,
        }
    };
}

const FORMS: &[Form] = &[
    form!("agentskills.io/specification, minimal example", "plain/SKILL.md",
        b"---\nname: plain\ndescription: Sorts shells by size.\n---\n\nLay them out.\n", "plain", "Sorts shells by size.", []),
    form!("agentskills.io/specification, optional fields", "whole/SKILL.md",
        b"---\nname: whole\ndescription: Sorts shells.\nlicense: Apache-2.0\ncompatibility: Needs a table\nmetadata:\n  author: nobody\n  version: \"1.0\"\nallowed-tools: Bash(git:*) Read\n---\nText\n",
        "whole", "Sorts shells.", []),
    form!("openclaw/openclaw skills/agents-manager", "literal/SKILL.md",
        b"---\nname: literal\ndescription: |\n  Finds birds: by song.\n  Use when: (1) listing, (2) hearing.\n---\nText\n",
        "literal", "Finds birds: by song.\nUse when: (1) listing, (2) hearing.", []),
    form!("openclaw/openclaw skills/abb-robot-control", "folded/SKILL.md",
        b"---\nname: folded\ndescription: >\n  Moves a crane.\n  Use for heavy things.\nmetadata:\n  vendor:\n    emoji: \"x\"\n    requires:\n      bins: []\n---\nText\n",
        "folded", "Moves a crane. Use for heavy things.", []),
    form!("k-dense-ai/claude-scientific-skills, folded without last line break", "strip/SKILL.md",
        b"---\nname: strip\ndescription: >-\n  Weighs\n  stars.\n---\nText\n", "strip", "Weighs stars.", []),
    form!("openclaw/openclaw skills/1password", "inline-json/SKILL.md",
        b"---\nname: inline-json\ndescription: Opens a safe.\nhomepage: https://example.org/a\nmetadata: {\"vendor\":{\"requires\":{\"bins\":[\"op\"]}}}\n---\nText\n",
        "inline-json", "Opens a safe.", []),
    form!("openclaw/openclaw skills/ai-ppt-generator-1.1.4", "slides-1.1.4/SKILL.md",
        b"---\nname: slides\ndescription: Makes slides.\nmetadata:\n  {\n    \"vendor\":\n      {\n        \"emoji\": \"x\",\n        \"env\": [\"KEY\"],\n      },\n  }\n---\nText\n",
        "slides", "Makes slides.", ["is not that of the folder"]),
    form!("openclaw/openclaw skills/alert_create", "under_score/SKILL.md",
        b"---\nname: under_score\ndescription: Rings a bell.\ncommand-dispatch: tool\ncommand-arg-mode: raw\n---\nText\n",
        "under_score", "Rings a bell.", ["lower-case letters"]),
    form!("obra/superpowers (fork) skills/ace-development", "lower-file/skill.md",
        b"---\ndescription: \"Stage 3: builds a boat\"\n---\n\n# Boat\n", "lower-file", "Stage 3: builds a boat",
        ["rename it to SKILL.md", "no name"]),
    form!("anthropics/skills (fork) ai-advisor-workflow", "adviser/SKILL.md",
        "---\nname: Adviser Of Tides\nversion: 1.0.0\ndescription: 潮の満ち引きを調べる。\ntags: [sea, moon]\ndependencies:\n  - moon\n---\n# 潮\n".as_bytes(),
        "adviser", "潮の満ち引きを調べる。", ["cannot be used"]),
    form!("anthropics/skills (fork) billing-documents", "wide/SKILL.md",
        "---\nname: wide\ndescription: 見積書。【期限】自動、「見積」で起動。\n---\n# 見積\n".as_bytes(), "wide",
        "見積書。【期限】自動、「見積」で起動。", []),
    form!("newkub/skills add-windsurf-skills", "no-name/SKILL.md",
        "---\ntitle: No Name\ndescription: เขียน\ntype: skill\nfollow:\n  skills: [\"@a\", \"@b\"]\n  files: []\n---\n# T\n".as_bytes(),
        "no-name", "เขียน", ["no name"]),
    form!("pbakaus/impeccable .claude/skills/impeccable", "hint/SKILL.md",
        b"---\nname: hint\ndescription: Paints walls.\nuser-invocable: true\nargument-hint: \"[one|two \xc2\xb7 three] [target]\"\nallowed-tools:\n  - Bash(npx paint *)\n---\nText\n",
        "hint", "Paints walls.", []),
    form!("pbakaus/impeccable issue 102", "colon/SKILL.md",
        b"---\nname: colon\ndescription: Make roofs storm-ready: tiles, nails. Use when the wind grows.\n---\nText\n", "colon",
        "Make roofs storm-ready: tiles, nails. Use when the wind grows.", ["is not YAML"]),
    form!("uditgoenka/autoresearch issue 69", "colons/SKILL.md",
        b"---\nname: colons\ndescription: Use when: digging. Depth: N, Width: M\nversion: 2\n---\nText\n", "colons",
        "Use when: digging. Depth: N, Width: M", ["is not YAML"]),
    form!("open-octo/octo-agent pull request 1417", "below/SKILL.md",
        b"---\nname: below\ndescription:\n  Asks about a plan, with\n  \"look at my plan\". Pairs with the other skill: this one first,\n  then that.\n---\nText\n",
        "below", "Asks about a plan, with \"look at my plan\". Pairs with the other skill: this one first, then that.",
        ["is not YAML"]),
    form!("gug007/lpm pull request 87", "ticks/SKILL.md",
        b"---\nname: ticks\ndescription: Adds an action of `type: command` to a file.\n---\nText\n", "ticks",
        "Adds an action of `type: command` to a file.", ["is not YAML"]),
    form!("crewAIInc/crewAI issue 7538", "mark/SKILL.md",
        b"\xef\xbb\xbf---\nname: mark\ndescription: Has a byte order mark.\n---\nText\n", "mark", "Has a byte order mark.", []),
    form!("files of Windows editors, as in bytedance/deer-flow pull request 5588", "crlf/SKILL.md",
        b"\xef\xbb\xbf---\r\nname: crlf\r\ndescription: |\r\n  One\r\n  two\r\n---\r\n\r\nText\r\n", "crlf", "One\ntwo", []),
    form!("MoonshotAI/kimi-code issue 3673", "bare/SKILL.md",
        b"# Bare\n\nCounts bees.\n", "bare", "Bare", ["no front matter", "no name", "no description"]),
    form!("op7418/Humanizer-zh pull request 21", "rules/SKILL.md",
        b"---\nname: rules\ndescription: Has rules in its text.\n---\n\nOne\n\n---\n\nTwo\n", "rules", "Has rules in its text.", []),
    form!("wheelry/deep-skill-finder pull request 31", "single/SKILL.md",
        b"---\nname: 'single'\ndescription: 'It''s quoted: twice'\n---\nText\n", "single", "It's quoted: twice", []),
    form!("kody-w/openrappter typescript/skills/skill-creator", "order/SKILL.md",
        b"---\nmetadata: {\"vendor\":{\"requires\":{}}}\ndescription: Has another order.\nname: order\n---\nText\n", "order",
        "Has another order.", []),
    form!("dyne/gestalt internal/skill/doc.go", "allowed/SKILL.md",
        b"---\nname: allowed\ndescription: Grows moss.\ncompatibility: \">=1.0\"\nallowed_tools:\n  - bash\n---\nText\n", "allowed",
        "Grows moss.", []),
    form!("jaygaha/claude-mcp-course", "commas/SKILL.md",
        b"---\nname: commas\ndescription: Cuts hedges.\nallowed-tools: Read, Grep, Bash(python *)\n---\nText\n", "commas", "Cuts hedges.", []),
    form!("local skills of domains, skills/DOMAIN/NAME", "area/deep/SKILL.md",
        b"---\nname: deep\ndescription: Lies below an area.\n---\nText\n", "deep", "Lies below an area.", []),
    form!("a template that was never filled, molin-ai/skills", "template/SKILL.md",
        b"---\nname: template\ndescription:\n---\n\n# Template\n", "template", "Template", ["no description"]),
    form!("a file whose author forgot the last line", "open/SKILL.md",
        b"---\nname: open\ndescription: Has no end.\n\n# Open\n\nText\n", "open", "Has no end.", ["no closing line"]),
    form!("a front matter that is indented with tabs", "tabs/SKILL.md",
        b"---\nname: tabs\ndescription: Is indented with tabs.\nmetadata:\n\tauthor: nobody\n---\nText\n", "tabs",
        "Is indented with tabs.", ["is not YAML"]),
    form!("blank lines before the front matter", "late/SKILL.md",
        b"\n\n---\nname: late\ndescription: Begins late.\n---\nText\n", "late", "Begins late.", []),
    form!("capitals in keys", "keys/SKILL.md",
        b"---\nName: keys\nDescription: Has capitals.\n---\nText\n", "keys", "Has capitals.", []),
    form!("Latin-1, from an old editor", "latin/SKILL.md",
        b"---\nname: latin\ndescription: Br\xfccken und T\xfcrme.\n---\nText\n", "latin", "Brücken und Türme.", ["not UTF-8"]),
    form!("a description that is a list", "list/SKILL.md",
        b"---\nname: list\ndescription:\n  - Finds mushrooms\n  - Names them\n---\nText\n", "list", "Finds mushrooms, Names them",
        ["description is not a text"]),
    form!("a name that is a number", "2024/SKILL.md",
        b"---\nname: 2024\ndescription: Is a year.\n---\nText\n", "2024", "Is a year.", []),
    form!("a merge that left a key twice", "twice/SKILL.md",
        b"---\nname: twice\ndescription: The first.\ndescription: The second.\n---\nText\n", "twice", "The first.", ["occurs twice"]),
    form!("a comment in the front matter", "comment/SKILL.md",
        b"---\n# a comment\nname: comment # another\ndescription: Has comments.\n---\nText\n", "comment", "Has comments.", []),
    form!("anchors, from a generator", "anchor/SKILL.md",
        b"---\nname: anchor\ndescription: &d Has an alias.\nmetadata:\n  short: *d\n---\nText\n", "anchor", "&d Has an alias.", ["alias"]),
    form!("a document end in place of the last line", "dots/SKILL.md",
        b"---\nname: dots\ndescription: Ends with dots.\n...\nText\n", "dots", "Ends with dots.", []),
    form!("longer lines of hyphens, as of Jekyll", "hyphens/SKILL.md",
        b"-----\nname: hyphens\ndescription: Has long lines.  \n-----\nText\n", "hyphens", "Has long lines.", []),
    form!("metadata that is a text", "text/SKILL.md",
        b"---\nname: text\ndescription: Is odd.\nmetadata: none\n---\nText\n", "text", "Is odd.", ["metadata is not a mapping"]),
    form!("a front matter alone", "alone/SKILL.md",
        b"---\nname: alone\ndescription: Has no text.\n---", "alone", "Has no text.", []),
    form!("an empty file", "empty/SKILL.md", b"", "empty", "", ["no front matter", "no name", "no description"]),
];

fn skills() -> TempWorkspace {
    TempWorkspace::from_files(
        FORMS
            .iter()
            .map(|form| (format!(".agents/skills/{}", form.path), form.text)),
    )
}

#[test]
fn every_form_is_found_with_its_name_and_description() {
    assert!(FORMS.len() >= 40);
    let workspace = skills();
    let found = found(&workspace);
    assert_eq!(found.overlooked, []);
    assert_eq!(found.skills.len(), FORMS.len());
    for form in FORMS {
        let folder = workspace
            .path()
            .canonicalize()
            .unwrap()
            .join(".agents/skills")
            .join(form.path);
        let skill = found
            .skills
            .iter()
            .find(|skill| Some(&*skill.path) == folder.parent())
            .unwrap();
        let description = skill
            .front_matter
            .description
            .as_deref()
            .unwrap_or_default();
        assert_eq!(
            (&*skill.name, description),
            (form.name, form.description),
            "{}",
            form.seen
        );
        let faults: Vec<_> = skill.faults.iter().map(ToString::to_string).collect();
        let is_expected = faults.len() == form.faults.len()
            && form
                .faults
                .iter()
                .all(|part| faults.iter().any(|fault| fault.contains(part)));
        assert!(is_expected, "{}: {faults:?}", form.seen);
    }
}

#[tokio::test]
async fn every_form_is_loaded_with_its_text() {
    let workspace = skills();
    let host = host(found(&workspace).skills.into_iter().map(approved));
    for form in FORMS {
        let text = host.text("skill.load", json!({"name": form.name})).await;
        let body = String::from_utf8_lossy(form.text)
            .trim_end()
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned();
        let is_body = !body.is_empty() && !body.starts_with("--");
        assert!(
            text.contains("<<< from the skill ") && (!is_body || text.contains(&body)),
            "{}: {text}",
            form.seen
        );
    }
}

#[test]
fn the_other_fields_are_read_too() {
    let workspace = skills();
    let found = found(&workspace);
    let fields = |name: &str| {
        found
            .skills
            .iter()
            .find(|skill| skill.name == name)
            .unwrap()
            .front_matter
            .clone()
    };
    let whole = fields("whole");
    assert_eq!(
        (whole.license.as_deref(), whole.compatibility.as_deref()),
        (Some("Apache-2.0"), Some("Needs a table"))
    );
    assert_eq!(whole.metadata["version"], "1.0");
    assert_eq!(whole.allowed_tools, ["Bash(git:*)", "Read"]);
    assert_eq!(
        fields("commas").allowed_tools,
        ["Read", "Grep", "Bash(python *)"]
    );
    assert_eq!(fields("hint").allowed_tools, ["Bash(npx paint *)"]);
    assert_eq!(fields("allowed").allowed_tools, ["bash"]);
    assert_eq!(
        fields("inline-json").metadata["vendor"],
        r#"{"requires":{"bins":["op"]}}"#
    );
    assert_eq!(fields("tabs").metadata["author"], "nobody");
}

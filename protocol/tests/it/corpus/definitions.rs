//! Real definitions and calls on every wire.

use std::collections::{BTreeMap, HashMap};

use protocol::wire::schema::Fidelity;
use protocol::wire::{Format, Strictness, WireTool};
use protocol::{Json, Tool, ToolName};

use super::rows_of;
use crate::wire::judge::Judge;
use crate::wire::law;

const STRICT: [Format; 3] = [
    Format::OpenAiChat,
    Format::OpenAiResponses,
    Format::Anthropic,
];

#[test]
#[ignore = "needs the data folder: TOOLCRIB_DATA=... cargo test -p toolcrib-protocol --test it -- --ignored corpus"]
fn every_real_definition_is_accepted_on_every_wire() {
    let judges = Format::ALL.map(|format| (format, Judge::new(format, Strictness::Relaxed)));
    let strict_judges = STRICT.map(|format| (format, Judge::new(format, Strictness::Strict)));
    let (mut count, mut strict, mut loosened) = (0, BTreeMap::new(), BTreeMap::new());
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows_of("tools_livemcp_bfcl_ref.jsonl.gz") {
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        if row["metaschema_ok"] == false {
            continue;
        }
        count += 1;
        let tool = Tool::new(
            ToolName::from_foreign(text("name")).unwrap(),
            text("description"),
            row["parameters"].clone(),
        )
        .unwrap();
        for (format, judge) in &judges {
            let wire = format.tool(&tool, Strictness::Relaxed).unwrap();
            assert_eq!(
                judge.violations(&wire.value()),
                [],
                "{format} {row}\n{}",
                wire.definition
            );
            let is_loosened = wire
                .changes
                .iter()
                .any(|change| change.fidelity == Fidelity::Loosened);
            *loosened.entry(*format).or_insert(0) += usize::from(is_loosened);
        }
        for (format, judge) in &strict_judges {
            let wire = format.tool(&tool, Strictness::Strict).unwrap();
            match &wire.strict {
                Ok(()) => {
                    assert_eq!(
                        judge.violations(&wire.value()),
                        [],
                        "{format} {row}\n{}",
                        wire.definition
                    );
                    *strict.entry(*format).or_insert(0) += 1;
                }
                Err(reason) => {
                    let kind = format!("{format} {reason:?}");
                    *reasons
                        .entry(
                            kind.split_once(" {")
                                .map_or(kind.clone(), |(kind, _)| kind.to_owned()),
                        )
                        .or_default() += 1;
                }
            }
        }
        let arguments = law::accepted(&row["parameters"], count, 4, &["x-extra"]);
        law::check(&row["parameters"], &arguments).unwrap();
    }
    eprintln!("{count} tools; strict: {strict:?}; loosened: {loosened:?}; not strict: {reasons:?}");
    assert_eq!(count, 3_461);
    assert!(strict.values().all(|strict| *strict > 2_500), "{strict:?}");
}

#[test]
#[ignore = "needs the data folder: TOOLCRIB_DATA=... cargo test -p toolcrib-protocol --test it -- --ignored corpus"]
fn every_real_call_is_accepted_on_every_wire() {
    struct Wires(Vec<(WireTool, jsonschema::Validator)>);
    let mut tools: HashMap<String, Wires> = HashMap::new();
    let (mut accepted, mut narrowed) = (0, 0);
    for row in rows_of("validation_bfcl.jsonl.gz").filter(|row| row["valid"] == true) {
        let wires = tools.entry(row["schema"].to_string()).or_insert_with(|| {
            let tool = Tool::new("a", "A.", row["schema"].clone()).unwrap();
            let modes = [Strictness::Relaxed, Strictness::Strict].into_iter();
            let all =
                modes.flat_map(|mode| Format::ALL.map(|format| format.tool(&tool, mode).unwrap()));
            Wires(
                all.map(|wire| (jsonschema::validator_for(&wire.parameters).unwrap(), wire))
                    .map(|(v, w)| (w, v))
                    .collect(),
            )
        });
        let arguments = Json::from(row["instance"].clone());
        for (wire, validator) in &wires.0 {
            let encoded = wire.arguments.encode(&arguments);
            let is_accepted = validator.is_valid(encoded.value());
            if wire.strict.is_ok() {
                // A strict wire refuses arguments that the schema does not name. Other kinds have them on purpose.
                narrowed += usize::from(!is_accepted && row["kind"] == "gold");
            } else {
                assert!(is_accepted, "{row}\n{encoded}\n{}", wire.definition);
                assert_eq!(wire.arguments.decode(&encoded), arguments, "{row}");
            }
        }
        accepted += 1;
    }
    eprintln!("{accepted} calls; on strict wires refused: {narrowed}");
    assert!(accepted > 5_000, "{accepted}");
    assert!(narrowed < accepted / 20, "{narrowed} of {accepted}");
}

//! [`Document`]: the words of one definition.

use std::hash::{DefaultHasher, Hash, Hasher};

use protocol::{Tool, ToolName};

use crate::field::Field;
use crate::text::each_text;
use crate::words::{Stem, Words};

/// The maximum number of words of a definition that are read. The name, the title and the description come first.
pub(crate) const MAX_TOOL_WORDS: usize = 2_000;

/// The words of one definition.
pub(crate) struct Document {
    pub(crate) name: ToolName,
    /// Equal for definitions with the same texts.
    pub(crate) fingerprint: u64,
    /// The number of words in each field.
    pub(crate) lengths: [u16; Field::ALL.len()],
    /// Sorted by stem.
    pub(crate) terms: Box<[Term]>,
}

/// A stem in a definition.
pub(crate) struct Term {
    pub(crate) stem: Stem,
    /// How often each field has it.
    pub(crate) counts: [u8; Field::ALL.len()],
}

impl Document {
    pub(crate) fn new(tool: &Tool, fingerprint: u64, words: &mut Words) -> Self {
        let mut found: Vec<(Stem, Field)> = Vec::new();
        each_text(tool, |field, text| {
            words.each(text, |_, stem| {
                found.push((stem, field));
                found.len() < MAX_TOOL_WORDS
            })
        });
        found.sort_unstable();
        let mut lengths = [0; Field::ALL.len()];
        let terms = found.chunk_by(|(a, _), (b, _)| a == b).map(|same| {
            let mut counts = [0_u8; Field::ALL.len()];
            for (_, field) in same {
                counts[*field as usize] = counts[*field as usize].saturating_add(1);
                lengths[*field as usize] += 1;
            }
            Term {
                stem: same[0].0,
                counts,
            }
        });
        let terms = terms.collect();
        Self {
            name: tool.name.clone(),
            fingerprint,
            lengths,
            terms,
        }
    }
}

/// Returns a number that is equal for definitions with the same texts, with a chance of 2⁻⁶⁴ that others have it too.
pub(crate) fn fingerprint(tool: &Tool) -> u64 {
    let mut hasher = DefaultHasher::new();
    each_text(tool, |field, text| {
        (field, text).hash(&mut hasher);
        true
    });
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::words::Settings;

    #[test]
    fn a_huge_definition_is_read_up_to_a_limit() {
        let description: String = (0..1_000_000)
            .map(|number| format!("word{number} "))
            .collect();
        let tool = Tool::new("huge", description, json!({"properties": {"late": {}}})).unwrap();
        let document = Document::new(&tool, 0, &mut Words::new(Settings::ALL));
        assert!(
            document.terms.len() <= MAX_TOOL_WORDS,
            "{}",
            document.terms.len()
        );
        assert_eq!(
            document
                .lengths
                .iter()
                .map(|length| usize::from(*length))
                .sum::<usize>(),
            MAX_TOOL_WORDS
        );
    }

    #[test]
    fn each_text_and_its_field_change_the_fingerprint() {
        let tool = Tool::new("a", "b", json!({"properties": {"c": {"description": "d"}}})).unwrap();
        let same = tool.clone().with_audit(true);
        assert_eq!(fingerprint(&tool), fingerprint(&same));
        let others = [
            Tool::new("x", "b", tool.parameters.clone()).unwrap(),
            Tool::new("a", "x", tool.parameters.clone()).unwrap(),
            Tool::new("a", "b", json!({"properties": {"x": {"description": "d"}}})).unwrap(),
            Tool::new("a", "b", json!({"properties": {"c": {"description": "x"}}})).unwrap(),
            tool.clone().with_title("x"),
            tool.clone().with_tags(["x"]),
        ];
        for other in &others {
            assert_ne!(fingerprint(&tool), fingerprint(other), "{other:?}");
        }
        assert_ne!(fingerprint(&others[4]), fingerprint(&others[5]));
    }
}

//! Sizes of a value, which bound the cost of validating it.

use protocol::json::{Kind, Node};

use super::measure::Measure;

/// The approximate size of an error, in bytes.
const ERROR: u64 = 256;
/// The approximate size of a value without its content, in bytes.
const VALUE: u64 = 64;

/// Sizes of a value. They saturate at the largest integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Shape {
    /// Levels of arrays and objects.
    pub(super) depth: u64,
    /// The cost of a verdict for each subschema: about one for each visit of a value or of 16 bytes of text.
    pub(super) weight: u64,
    /// The memory for an explanation, in bytes for each error of a subschema. An error in a branch of `anyOf` copies its value, and
    /// each fan-out multiplies the visits of nested values.
    pub(super) explained: u64,
    /// The cost of matching property names, in nanoseconds.
    pub(super) names: u64,
}

impl Shape {
    /// Measures a value without recursion.
    pub(super) fn from_value(value: Node<'_>, measure: &Measure) -> Self {
        let mut shape = Self::default();
        let mut pending = vec![(
            value,
            Level {
                depth: 0,
                looks: 1,
                verdicts: 1,
                copies: 1,
            },
        )];
        while let Some((value, level)) = pending.pop() {
            let mut text = value.as_str().map_or(0, |string| string.len() as u64);
            if matches!(value.kind(), Kind::Array | Kind::Object) {
                let below = level.below(measure);
                shape.depth = shape.depth.max(below.depth);
                pending.extend(value.elements().map(|element| (element, below)));
                for (name, property) in value.members() {
                    text += name.len() as u64;
                    let costs = measure.names.iter().map(|cost| cost.for_length(name.len()));
                    shape.names = costs.fold(shape.names, u64::saturating_add);
                    pending.push((property, below));
                }
            }
            shape.weight = shape
                .weight
                .saturating_add(level.verdicts.saturating_mul(1 + text / 16));
            // Each error of a branch holds a copy of its value and, above it, of each enclosing one.
            let copied = level.copies.saturating_mul(VALUE + text);
            shape.explained = shape
                .explained
                .saturating_add(copied)
                .saturating_add(level.looks.saturating_mul(ERROR));
        }
        shape
    }
}

#[derive(Clone, Copy)]
struct Level {
    depth: u64,
    /// Visits of a value of this level for an explanation.
    looks: u64,
    /// Visits of a value of this level for a verdict.
    verdicts: u64,
    /// Visits of a value of this level and of all enclosing values.
    copies: u64,
}

impl Level {
    fn below(self, measure: &Measure) -> Self {
        let looks = self.looks.saturating_mul(measure.fan_out.max(1));
        let verdicts = self.verdicts.saturating_mul(measure.verdict_fan_out.max(1));
        Self {
            depth: self.depth + 1,
            looks,
            verdicts,
            copies: self.copies.saturating_add(looks),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn shape(value: &Value, measure: &Measure) -> Shape {
        Shape::from_value(value.into(), measure)
    }

    #[test]
    fn depth_counts_arrays_and_objects() {
        let depth = |value| shape(&value, &Measure::default()).depth;
        assert_eq!(
            [depth(json!(1)), depth(json!({})), depth(json!({"a": [[]]}))],
            [0, 1, 3]
        );
    }

    #[test]
    fn fan_out_multiplies_with_every_level() {
        let binary = Measure {
            fan_out: 2,
            ..Measure::default()
        };
        let mut value = json!(1);
        let mut before = 0u64;
        for _ in 0..64 {
            let shape = shape(&value, &binary);
            assert!(shape.explained >= before.saturating_mul(2).min(u64::MAX / 2));
            before = shape.explained;
            value = json!([value]);
        }
        assert_eq!(before, u64::MAX);
    }
}

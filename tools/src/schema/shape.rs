//! What matters about a value's size before it is validated.

use protocol::json::{Kind, Node};

use super::measure::Measure;

/// Bytes that an error takes by itself, about.
const ERROR: u64 = 256;
/// Bytes that a value takes by itself, about.
const VALUE: u64 = 64;

/// Sizes of a value. They saturate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Shape {
    /// Levels of arrays and objects.
    pub(super) depth: u64,
    /// What a verdict costs for each subschema: about one for each value and each 16 bytes of text, for each look at it.
    pub(super) weight: u64,
    /// Bytes of memory that explaining it takes for each error a subschema may give: an error of a branch of `anyOf` holds a
    /// copy of its value, and each fan-out multiplies the looks at what lies below.
    pub(super) explained: u64,
    /// Cost of matching property names, in nanoseconds.
    pub(super) names: u64,
}

impl Shape {
    /// Walks the value without recursion.
    pub(super) fn of(value: Node<'_>, measure: &Measure) -> Self {
        let mut shape = Self::default();
        let mut pending = vec![(value, Level { depth: 0, looks: 1, verdicts: 1, copies: 1 })];
        while let Some((value, level)) = pending.pop() {
            let mut text = 0;
            if let Some(string) = value.as_str() {
                text = string.len() as u64;
            } else if value.kind() == Kind::Array {
                let below = level.below(measure);
                shape.depth = shape.depth.max(below.depth);
                pending.extend(value.elements().map(|element| (element, below)));
            } else if value.is_object() {
                let below = level.below(measure);
                shape.depth = shape.depth.max(below.depth);
                for (name, property) in value.members() {
                    text += name.len() as u64;
                    let costs = measure.names.iter().map(|cost| cost.for_length(name.len()));
                    shape.names = costs.fold(shape.names, u64::saturating_add);
                    pending.push((property, below));
                }
            }
            shape.weight = shape.weight.saturating_add(level.verdicts.saturating_mul(1 + text / 16));
            let copied = level.copies.saturating_mul(VALUE + text);
            shape.explained = shape.explained.saturating_add(copied).saturating_add(level.looks.saturating_mul(ERROR));
        }
        shape
    }
}

#[derive(Clone, Copy)]
struct Level {
    depth: u64,
    /// Looks at a value of this level, to explain it.
    looks: u64,
    /// Looks at it for a verdict.
    verdicts: u64,
    /// Looks at it and at all that it lies in.
    copies: u64,
}

impl Level {
    fn below(self, measure: &Measure) -> Self {
        let looks = self.looks.saturating_mul(measure.fan_out.max(1));
        let verdicts = self.verdicts.saturating_mul(measure.verdict_fan_out.max(1));
        Self { depth: self.depth + 1, looks, verdicts, copies: self.copies.saturating_add(looks) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn shape(value: &Value, measure: &Measure) -> Shape {
        Shape::of(value.into(), measure)
    }

    #[test]
    fn depth_counts_arrays_and_objects() {
        let depth = |value| shape(&value, &Measure::default()).depth;
        assert_eq!([depth(json!(1)), depth(json!({})), depth(json!({"a": [[]]}))], [0, 1, 3]);
    }

    #[test]
    fn fan_out_multiplies_with_every_level() {
        let binary = Measure { fan_out: 2, ..Measure::default() };
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

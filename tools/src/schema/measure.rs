//! Sizes of a schema graph, which bound the work and stack of a validation.

use std::collections::{HashMap, HashSet};

use super::graph::{Graph, ValuePart};
use super::pattern::Cost;
use super::{SchemaError, phrase};

/// The most steps for measuring a schema.
const MOST_STEPS: usize = 1_000_000;

/// Upper bounds. They saturate, so a schema bomb measures as very large.
#[derive(Debug, Clone, Default)]
pub(super) struct Measure {
    /// The subschemas once references are replaced by their targets. A recursive schema is unfolded once.
    pub(super) unfolded: u64,
    /// The evaluations of subschemas, including the repeated ones of `unevaluated…`.
    pub(super) evaluated: u64,
    /// The errors that one visit of one value may cause.
    pub(super) errors: u64,
    /// The longest chain of subschemas for the same value.
    pub(super) stacked: u64,
    /// The longest chain of subschemas, or `None` if the schema is recursive.
    pub(super) height: Option<u64>,
    /// The visits of a child by recursive subschemas for one visit of its parent. From 2 on, an explanation takes time exponential
    /// in the nesting of the value.
    pub(super) fan_out: u64,
    /// The visits of a child for a verdict. `jsonschema` caches the verdicts of recursive subschemas, which avoids exponential time,
    /// but not the repeated evaluations of `unevaluated…`.
    pub(super) verdict_fan_out: u64,
    /// The costs of the regular expressions for property names.
    pub(super) names: Vec<Cost>,
}

impl Measure {
    pub(super) fn new(graph: &Graph<'_>) -> Result<Self, SchemaError> {
        let count = graph.nodes.len();
        let edges = |node: usize| graph.nodes[node].edges.iter();
        let (_, circle) = post_order(count, |node| {
            edges(node)
                .filter(|(part, _)| *part == ValuePart::Whole)
                .map(|edge| edge.1)
        });
        if let Some(node) = circle {
            let reference = graph.nodes[node].reference.unwrap_or("#");
            return Err(SchemaError::EndlessRef {
                reference: phrase::quote(reference, 128),
            });
        }

        let component = components(graph);
        // A child edge inside of its component closes a cycle, so it is not followed.
        let unfolds = |node: usize, (part, next): (ValuePart<'_>, usize)| {
            part == ValuePart::Whole || component[node] != component[next]
        };
        let (order, _) = post_order(count, |node| {
            edges(node)
                .filter(move |edge| unfolds(node, **edge))
                .map(|edge| edge.1)
        });
        let mut sizes = vec![Size::default(); count];
        let mut recursive = false;
        for node in &order {
            let mut size = Size {
                unfolded: 1,
                looked: 1,
                marked: 1,
                errors: graph.nodes[*node].errors,
                ..Size::default()
            };
            for (part, next) in edges(*node) {
                let unfolds = unfolds(*node, (*part, *next));
                recursive |= !unfolds;
                size.add(*part, if unfolds { sizes[*next] } else { Size::one() });
            }
            if graph.nodes[*node].is_unevaluated {
                size.looked = size.looked.saturating_add(size.marked);
            }
            size.stacked += 1;
            size.height += 1;
            sizes[*node] = size;
        }
        let marking: HashSet<usize> = (0..count)
            .filter(|node| graph.nodes[*node].is_unevaluated)
            .map(|node| component[node])
            .collect();
        let most = |of: fn(&Size) -> u64| sizes.iter().map(of).max().unwrap_or(0);
        Ok(Self {
            unfolded: most(|size| size.unfolded),
            evaluated: most(|size| size.looked),
            errors: most(|size| size.errors),
            stacked: most(|size| size.stacked),
            height: (!recursive).then(|| most(|size| size.height)),
            fan_out: fan_out(graph, &component, &order, false, |_| true)?,
            verdict_fan_out: fan_out(graph, &component, &order, true, |component| {
                marking.contains(&component)
            })?,
            names: Vec::new(),
        })
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Size {
    unfolded: u64,
    /// The evaluations for a verdict.
    looked: u64,
    /// The evaluations that `unevaluated…` repeats.
    marked: u64,
    errors: u64,
    stacked: u64,
    height: u64,
}

impl Size {
    /// Returns the size of an edge back into a recursive schema.
    fn one() -> Self {
        Self {
            unfolded: 1,
            looked: 1,
            ..Self::default()
        }
    }

    fn add(&mut self, part: ValuePart<'_>, other: Self) {
        self.unfolded = self.unfolded.saturating_add(other.unfolded);
        self.looked = self.looked.saturating_add(other.looked);
        self.errors = self.errors.saturating_add(other.errors);
        self.height = self.height.max(other.height);
        if part == ValuePart::Whole {
            self.marked = self
                .marked
                .saturating_add(other.looked)
                .saturating_add(other.marked);
            self.stacked = self.stacked.max(other.stacked);
        } else if part == ValuePart::Items || part == ValuePart::Properties {
            self.marked = self.marked.saturating_add(other.looked);
        }
    }
}

/// Returns the most visits of a child by subschemas of its parent's component. Considers only components that `counts` accepts.
fn fan_out(
    graph: &Graph<'_>,
    component: &[usize],
    order: &[usize],
    marking: bool,
    counts: impl Fn(usize) -> bool,
) -> Result<u64, SchemaError> {
    let mut looks: Vec<Looks<'_>> = vec![Looks::new(); graph.nodes.len()];
    let mut marks = looks.clone();
    let mut steps = 0;
    let mut most = 0;
    for node in order {
        if !counts(component[*node]) {
            continue;
        }
        let mut looked = Looks::new();
        let mut marked = Looks::new();
        for (part, next) in &graph.nodes[*node].edges {
            if component[*node] != component[*next] {
                continue;
            }
            if *part == ValuePart::Whole {
                steps += looks[*next].len() + marks[*next].len();
                add(&mut looked, &looks[*next]);
                if marking {
                    add(&mut marked, &looks[*next]);
                    add(&mut marked, &marks[*next]);
                }
            } else {
                *looked.entry(*part).or_default() += 1;
                if marking && matches!(part, ValuePart::Items | ValuePart::Properties) {
                    *marked.entry(*part).or_default() += 1;
                }
            }
            if steps > MOST_STEPS {
                return Err(SchemaError::OverBudget {
                    measure: "steps to measure it",
                    limit: MOST_STEPS as u64,
                });
            }
        }
        if graph.nodes[*node].is_unevaluated {
            add(&mut looked, &marked);
        }
        most = most.max(busiest(&looked));
        looks[*node] = looked;
        marks[*node] = marked;
    }
    Ok(most)
}

type Looks<'a> = HashMap<ValuePart<'a>, u64>;

fn add<'a>(sum: &mut Looks<'a>, other: &Looks<'a>) {
    for (part, count) in other {
        let entry = sum.entry(*part).or_default();
        *entry = entry.saturating_add(*count);
    }
}

/// Returns the visits of the child that is visited most. Subschemas for any child add to those for a particular child.
fn busiest(looks: &Looks<'_>) -> u64 {
    let items = looks.get(&ValuePart::Items).copied().unwrap_or(0);
    let properties = looks.get(&ValuePart::Properties).copied().unwrap_or(0);
    let children = looks.iter().map(|(part, count)| match part {
        ValuePart::Item(_) => count.saturating_add(items),
        ValuePart::Property(_) => count.saturating_add(properties),
        _ => *count,
    });
    children.max().unwrap_or(0)
}

/// Returns the strongly connected component of each node (Kosaraju's algorithm). A schema is recursive within a component.
fn components(graph: &Graph<'_>) -> Vec<usize> {
    let count = graph.nodes.len();
    let (order, _) = post_order(count, |node| {
        graph.nodes[node].edges.iter().map(|edge| edge.1)
    });
    let mut back = vec![Vec::new(); count];
    for (node, from) in graph.nodes.iter().enumerate() {
        for (_, next) in &from.edges {
            back[*next].push(node);
        }
    }
    let mut component = vec![usize::MAX; count];
    for root in order.into_iter().rev() {
        let mut pending = vec![root];
        while let Some(node) = pending.pop() {
            if component[node] == usize::MAX {
                component[node] = root;
                pending.extend(&back[node]);
            }
        }
    }
    component
}

/// Returns the nodes in depth-first post-order, and a node of a cycle if there is one.
fn post_order<I: Iterator<Item = usize>>(
    count: usize,
    next: impl Fn(usize) -> I,
) -> (Vec<usize>, Option<usize>) {
    #[derive(Clone, Copy, PartialEq)]
    enum VisitState {
        New,
        Open,
        Done,
    }
    let mut state = vec![VisitState::New; count];
    let mut order = Vec::with_capacity(count);
    let mut circle = None;
    for root in 0..count {
        if state[root] != VisitState::New {
            continue;
        }
        state[root] = VisitState::Open;
        let mut path = vec![(root, next(root))];
        while let Some((node, rest)) = path.last_mut() {
            let node = *node;
            match rest.next() {
                Some(child) if state[child] == VisitState::New => {
                    state[child] = VisitState::Open;
                    path.push((child, next(child)));
                }
                Some(child) => {
                    if state[child] == VisitState::Open {
                        circle = circle.or(Some(child));
                    }
                }
                None => {
                    state[node] = VisitState::Done;
                    order.push(node);
                    path.pop();
                }
            }
        }
    }
    (order, circle)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::budget::inspect;

    #[test]
    fn fan_out_counts_the_looks_at_one_child() {
        let fan_out = |schema: Value| inspect(&schema).unwrap().measure.fan_out;
        let tree = json!({"$ref": "#"});
        assert_eq!(fan_out(json!({"properties": {"a": {}}})), 0);
        assert_eq!(
            fan_out(json!({"properties": {"left": tree, "right": tree}})),
            1
        );
        assert_eq!(
            fan_out(json!({"properties": {"a": {"allOf": [tree, tree]}}})),
            2
        );
        assert_eq!(
            fan_out(json!({"anyOf": [{"properties": {"a": tree}}, {"properties": {"a": tree}}]})),
            2
        );
        assert_eq!(
            fan_out(json!({"properties": {"a": tree}, "patternProperties": {"a": tree}})),
            2
        );
    }

    #[test]
    fn any_json_has_no_fan_out() {
        let measure = inspect(&json!({"anyOf": [
            {"type": ["string", "number", "boolean", "null"]},
            {"type": "array", "items": {"$ref": "#"}},
            {"type": "object", "additionalProperties": {"$ref": "#"}},
        ]}));
        let measure = measure.unwrap().measure;
        assert_eq!(
            (measure.fan_out, measure.verdict_fan_out, measure.height),
            (1, 0, None)
        );
    }

    #[test]
    fn chains_count_along_the_value_and_down_it() {
        let schema = json!({"allOf": [{"anyOf": [{"properties": {"a": {"not": {}}}}]}]});
        let measure = inspect(&schema).unwrap().measure;
        assert_eq!(
            (measure.stacked, measure.height, measure.unfolded),
            (3, Some(5), 5)
        );
    }
}

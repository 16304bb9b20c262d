//! A search never returns a tool outside of the session's selection or grant, whatever the catalog and the grant:
//!
//! - Each template of a tool that it returns has a target that the grant permits.
//! - If the tool computes its targets, at least one of its templates has.
//! - It returns every selected tool of which a call with a target can pass.
//!
//! A tool may be returned of which no call passes: its function may compute other targets, or two templates have the same argument and
//! the grant permits a different value for each.

use agent::{Selection, Session, ToolFinder};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use tools::protocol::Target;
use tools::{Access, Catalog, Clause, Effects, Grant, Host, Tool, ToolContext, ToolName};

/// The values that an argument may have.
const VALUES: [&str; 10] = [
    "a", "b", "a/b", "a/c", "b/a", "a/b/c", "x.md", "a/x.md", "a/a", "z",
];

/// The templates of the tools: their scheme and the text before the argument.
const TEMPLATES: [(&str, &str); 5] = [
    ("db", ""),
    ("db", "a/"),
    ("db", "b/"),
    ("mail", ""),
    ("mail", "a/"),
];

/// `a` alone is left out: no argument makes it of `a/{arg}`, and clauses do not tell.
const PATTERNS: [&str; 9] = [
    "**", "x.md", "a/**", "b/**", "a/b/**", "a/b", "b/a/**", "*.md", "a/*",
];

#[derive(Clone, Debug)]
struct Made {
    name: String,
    /// Undeclared without effects, pure with an empty list.
    effects: Option<Vec<Template>>,
}

#[derive(Clone, Debug)]
struct Template {
    access: Access,
    scheme: &'static str,
    head: &'static str,
    /// The number of the argument. `None` stands for a value that a function of the tool computes.
    argument: Option<usize>,
}

impl Template {
    /// Returns true if the grant permits the target with this value.
    fn permits(&self, grant: &Grant, value: &str) -> bool {
        grant.permits(
            &Target::new(self.access, self.scheme, format!("{}{value}", self.head)).unwrap(),
        )
    }

    fn may_permit(&self, grant: &Grant) -> bool {
        VALUES.iter().any(|value| self.permits(grant, value))
    }
}

fn access() -> impl Strategy<Value = Access> {
    select(vec![Access::Read, Access::Write, Access::Destroy])
}

fn made() -> impl Strategy<Value = Vec<Made>> {
    let argument = prop::option::weighted(0.8, 0..2_usize);
    let template = (access(), select(TEMPLATES.to_vec()), argument).prop_map(
        |(access, (scheme, head), argument)| Template {
            access,
            scheme,
            head,
            argument,
        },
    );
    let effects = prop::option::weighted(0.9, vec(template, 0..4));
    vec(effects, 1..30).prop_map(|effects| {
        let name = |number| format!("{}.tool_{number}", ["one", "two", "three"][number % 3]);
        effects
            .into_iter()
            .enumerate()
            .map(|(number, effects)| Made {
                name: name(number),
                effects,
            })
            .collect()
    })
}

fn clause() -> impl Strategy<Value = Clause> {
    let (schemes, accesses) = (
        select(vec!["db", "mail", "*"]),
        select(vec!["read", "write", "destroy", "*"]),
    );
    (schemes, accesses, select(PATTERNS.to_vec())).prop_map(|(scheme, access, pattern)| {
        format!("{scheme}:{access}:{pattern}").parse().unwrap()
    })
}

fn grant() -> impl Strategy<Value = Grant> {
    vec(vec(clause(), 0..4), 1..4).prop_map(|layers| {
        let mut layers = layers.into_iter();
        let first = Grant::new(layers.next().unwrap());
        layers.fold(first, |grant, layer| grant.narrow(layer))
    })
}

impl Made {
    fn tool(&self) -> Tool {
        let effects = match &self.effects {
            None => Effects::Undeclared,
            Some(effects) if effects.is_empty() => Effects::Pure,
            Some(effects) => {
                let of = |wanted: Access| {
                    let text = |Template {
                                    scheme,
                                    head,
                                    argument,
                                    ..
                                }: &Template| match argument {
                        Some(number) => format!("{scheme}:{head}{{arg{number}}}"),
                        None => format!("{scheme}:{head}{{*}}"),
                    };
                    effects
                        .iter()
                        .filter(|template| template.access == wanted)
                        .map(text)
                        .collect::<Vec<_>>()
                };
                let declared = json!({"reads": of(Access::Read), "writes": of(Access::Write), "destroys": of(Access::Destroy)});
                serde_json::from_value(declared).unwrap()
            }
        };
        let text = json!({"type": "string"});
        let parameters = json!({"type": "object", "properties": {"arg0": text, "arg1": text}, "required": ["arg0", "arg1"]});
        Tool::new(&self.name, "Does the work.", parameters)
            .unwrap()
            .with_effects(effects)
    }

    /// Returns true if a search with this grant returns the tool.
    fn is_found(&self, grant: &Grant) -> bool {
        let Some(effects) = &self.effects else {
            return self.passes(grant);
        };
        if self.is_computed() {
            effects.iter().any(|template| template.may_permit(grant))
        } else {
            effects.iter().all(|template| template.may_permit(grant))
        }
    }

    /// Returns true if the grant permits the targets of a call with some of the values, at least one if the tool has templates.
    fn passes(&self, grant: &Grant) -> bool {
        let Some(effects) = &self.effects else {
            let name = ToolName::new(&self.name).unwrap();
            let targets = Effects::Undeclared
                .targets(&name, &json!({}), &json!({}))
                .unwrap();
            return targets.iter().all(|target| grant.permits(target));
        };
        if self.is_computed() {
            // The function may compute a target of one template alone.
            return effects.iter().any(|template| template.may_permit(grant));
        }
        let has_value = |argument: usize| {
            let templates = || {
                effects
                    .iter()
                    .filter(|template| template.argument == Some(argument))
            };
            VALUES
                .iter()
                .any(|value| templates().all(|template| template.permits(grant, value)))
        };
        (0..2).all(has_value)
    }

    fn is_computed(&self) -> bool {
        self.effects
            .iter()
            .flatten()
            .any(|template| template.argument.is_none())
    }

    fn shares_arguments(&self) -> bool {
        let arguments: Vec<_> = self
            .effects
            .iter()
            .flatten()
            .filter_map(|template| template.argument)
            .collect();
        (0..2).any(|wanted| {
            arguments
                .iter()
                .filter(|argument| **argument == wanted)
                .count()
                > 1
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_search_returns_the_tools_of_the_selection_that_the_grant_lets_pass(
        made in made(),
        grant in grant(),
        globs in select(vec![vec!["*"], vec!["one.*"], vec!["*", "!two.*"], vec!["*_1*"], vec!["nothing"]]),
    ) {
        let mut catalog = Catalog::new();
        for made in &made {
            catalog.register(made.tool(), async |_: ToolContext, _: Value| "done").unwrap();
        }
        let selection = Selection::parse(&globs).unwrap();
        let session = Session::new(catalog.list(), selection.clone(), Host::new().with_grant(grant.clone()));
        let finder = ToolFinder::new(session.tools().clone());
        let search = finder.search(session.context(), "does the work of a tool", 100);
        let mut found: Vec<_> = search.found.iter().map(|found| found.entry.name().to_string()).collect();
        found.sort();
        let selected = |made: &&Made| selection.matches(&catalog.get(&made.name).unwrap());
        let mut expected: Vec<_> =
            made.iter().filter(selected).filter(|made| made.is_found(&grant)).map(|made| made.name.clone()).collect();
        expected.sort();
        prop_assert_eq!(&found, &expected, "{}", grant);
        // Others neither displace a result nor are they counted.
        let first = finder.search(session.context(), "does the work of a tool", 1);
        prop_assert_eq!((first.found.len(), first.found.len() + first.others), (expected.len().min(1), expected.len()));
        for made in made.iter().filter(selected) {
            let (is_found, passes) = (found.contains(&made.name), made.passes(&grant));
            prop_assert!(is_found || !passes, "{} {:?}", grant, made);
            prop_assert!(passes || !is_found || made.shares_arguments(), "{} {:?}", grant, made);
        }
    }
}

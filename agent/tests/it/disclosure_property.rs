//! A search never returns a tool outside of the session's selection or grant, whatever the catalog and the grant.

use agent::{Selection, Session, ToolFinder};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use tools::protocol::Target;
use tools::{Access, Catalog, Clause, Effects, Grant, Tool, ToolContext, ToolName};

/// The values that an argument may have.
const VALUES: [&str; 7] = ["a", "b", "a/b", "a/c", "b/a", "a/b/c", "x.md"];

/// The templates of the tools: their scheme and the text before the argument.
const TEMPLATES: [(&str, &str); 5] = [("db", ""), ("db", "a/"), ("db", "b/"), ("mail", ""), ("mail", "a/")];

/// `a` alone is left out: no argument makes it of `a/{arg}`, and clauses do not tell.
const PATTERNS: [&str; 9] = ["**", "x.md", "a/**", "b/**", "a/b/**", "a/b", "b/a/**", "*.md", "a/*"];

#[derive(Clone, Debug)]
struct Made {
    name: String,
    /// Undeclared without effects, pure with an empty list.
    effects: Option<Vec<(Access, usize)>>,
}

fn access() -> impl Strategy<Value = Access> {
    select(vec![Access::Read, Access::Write, Access::Destroy])
}

fn made() -> impl Strategy<Value = Vec<Made>> {
    let effects = prop::option::weighted(0.9, vec((access(), 0..TEMPLATES.len()), 0..3));
    vec(effects, 1..30).prop_map(|effects| {
        let name = |number| format!("{}.tool_{number}", ["one", "two", "three"][number % 3]);
        effects.into_iter().enumerate().map(|(number, effects)| Made { name: name(number), effects }).collect()
    })
}

fn clause() -> impl Strategy<Value = Clause> {
    let (schemes, accesses) = (select(vec!["db", "mail", "*"]), select(vec!["read", "write", "destroy", "*"]));
    (schemes, accesses, select(PATTERNS.to_vec()))
        .prop_map(|(scheme, access, pattern)| format!("{scheme}:{access}:{pattern}").parse().unwrap())
}

fn grant() -> impl Strategy<Value = Grant> {
    vec(vec(clause(), 0..4), 1..4).prop_map(|layers| {
        let mut layers = layers.into_iter();
        let first = Grant::new(layers.next().unwrap());
        layers.fold(first, |grant, layer| grant.narrowed(layer))
    })
}

impl Made {
    /// Each template has an argument of its own.
    fn tool(&self) -> Tool {
        let effects = match &self.effects {
            None => Effects::Undeclared,
            Some(effects) if effects.is_empty() => Effects::Pure,
            Some(effects) => {
                let of = |wanted: Access| {
                    let templates = effects.iter().enumerate().filter(|(_, (access, _))| *access == wanted);
                    let text = |(number, (_, template)): (usize, &(Access, usize))| {
                        let (scheme, head) = TEMPLATES[*template];
                        format!("{scheme}:{head}{{arg{number}}}")
                    };
                    templates.map(text).collect::<Vec<_>>()
                };
                let declared =
                    json!({"reads": of(Access::Read), "writes": of(Access::Write), "destroys": of(Access::Destroy)});
                serde_json::from_value(declared).unwrap()
            }
        };
        let text = json!({"type": "string"});
        let parameters =
            json!({"type": "object", "properties": {"arg0": text, "arg1": text}, "required": ["arg0", "arg1"]});
        Tool::new(&self.name, "Does the work.", parameters).unwrap().with_effects(effects)
    }

    /// Returns true if the grant permits a call with some of the values.
    fn can_pass(&self, grant: &Grant) -> bool {
        let Some(effects) = &self.effects else {
            let name = ToolName::new(&self.name).unwrap();
            let targets = Effects::Undeclared.targets(&name, &json!({}), &json!({})).unwrap();
            return targets.iter().all(|target| grant.permits(target));
        };
        effects.iter().all(|(access, template)| {
            let (scheme, head) = TEMPLATES[*template];
            let target = |value: &&str| Target::new(*access, scheme, format!("{head}{value}")).unwrap();
            VALUES.iter().any(|value| grant.permits(&target(value)))
                // The argument of a template may be empty, or any other text.
                || ["a/x.md", "x.md", "a/a", "b", "b/a", "z"].iter().any(|value| grant.permits(&target(value)))
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
        let session = Session::new(catalog.list(), selection.clone(), ToolContext::new().with_grant(grant.clone()));
        let finder = ToolFinder::new(session.tools().clone());
        let search = finder.search(session.context(), "does the work of a tool", 100);
        let search = futures_now(search);
        let mut found: Vec<_> = search.found.iter().map(|found| found.entry.name().to_string()).collect();
        found.sort();
        let selected = |made: &&Made| selection.matches(&catalog.get(&made.name).unwrap());
        let mut expected: Vec<_> =
            made.iter().filter(selected).filter(|made| made.can_pass(&grant)).map(|made| made.name.clone()).collect();
        expected.sort();
        prop_assert_eq!(found, expected, "{}", grant);
    }
}

/// Awaits a future that does not wait for anything.
fn futures_now<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(future)
}

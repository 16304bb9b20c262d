//! The budgets of a run and its children.

use std::time::Duration;

use agent::{
    Budget, BudgetError, BudgetLimits, BudgetScope, Cost, Exhausted, Price, Resource, Spending,
    Usage,
};
use proptest::prelude::*;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

fn exhausted(error: BudgetError) -> Exhausted {
    match error {
        BudgetError::Exhausted(exhausted) => exhausted,
        other => panic!("{other:?}"),
    }
}

/// A budget of a tree: its position in the list of budgets, and its ancestors' positions.
struct Node {
    budget: Budget,
    ancestors: Vec<usize>,
}

/// The position of the parent among the earlier nodes, and the limits.
type Branch = (prop::sample::Index, Option<u64>, Option<u64>, Option<u64>);

fn tree(branches: &[Branch]) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    for (parent, steps, calls, tokens) in branches {
        let mut limits = BudgetLimits::default();
        (limits.steps, limits.calls, limits.tokens) = (*steps, *calls, *tokens);
        let node = match nodes.len() {
            0 => Node {
                budget: Budget::new(limits),
                ancestors: Vec::new(),
            },
            count => {
                let parent = parent.index(count);
                let ancestors = nodes[parent]
                    .ancestors
                    .iter()
                    .copied()
                    .chain([parent])
                    .collect();
                Node {
                    budget: nodes[parent].budget.child(limits),
                    ancestors,
                }
            }
        };
        nodes.push(node);
    }
    nodes
}

fn branches() -> impl Strategy<Value = Vec<Branch>> {
    let limit = || prop::option::of(0..40_u64);
    prop::collection::vec(
        (any::<prop::sample::Index>(), limit(), limit(), limit()),
        1..12,
    )
}

/// Charges to the budget at an index: steps or calls, or tokens that were already used.
fn charges() -> impl Strategy<Value = Vec<(prop::sample::Index, u8, u64)>> {
    prop::collection::vec((any::<prop::sample::Index>(), 0..5_u8, 1..5_u64), 0..120)
}

fn runtime() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(4)
        .build()
        .unwrap()
}

fn sum(amounts: impl Iterator<Item = Spending>) -> Spending {
    amounts.fold(Spending::default(), Spending::saturating_add)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_chain_of_children_exceeds_the_budget_of_an_ancestor(branches in branches(), charges in charges()) {
        let nodes = tree(&branches);
        let runtime = runtime();
        let granted: Vec<(usize, Spending)> = runtime.block_on(async {
            let mut tasks = JoinSet::new();
            for (index, kind, amount) in charges {
                let position = index.index(nodes.len());
                let budget = nodes[position].budget.clone();
                tasks.spawn(async move {
                    let spending = match kind {
                        0 | 1 => Spending::steps(amount),
                        2 | 3 => Spending::calls(amount),
                        _ => Spending::tokens(amount, Cost::default()),
                    };
                    let granted = match spending.tokens {
                        0 => budget.charge(spending).await,
                        _ => budget.record(spending).await,
                    };
                    granted.is_ok().then_some((position, spending))
                });
            }
            tasks.join_all().await.into_iter().flatten().collect()
        });
        for (position, node) in nodes.iter().enumerate() {
            let is_below = |other: &usize| *other == position || nodes[*other].ancestors.contains(&position);
            let of_subtree = granted.iter().filter(|(other, _)| is_below(other)).map(|(_, spending)| *spending);
            let spent = node.budget.spent();
            prop_assert_eq!(spent, sum(of_subtree), "each granted charge counts once, and no refused one does");
            let limits = node.budget.limits();
            prop_assert!(limits.steps.is_none_or(|limit| spent.steps <= limit));
            prop_assert!(limits.calls.is_none_or(|limit| spent.calls <= limit));
        }
        for node in &nodes {
            let chain = || node.ancestors.iter().map(|ancestor| &nodes[*ancestor].budget).chain([&node.budget]);
            let is_open = chain().all(|budget| {
                let (spent, limits) = (budget.spent(), budget.limits());
                limits.steps.is_none_or(|limit| spent.steps < limit) && limits.tokens.is_none_or(|limit| spent.tokens < limit)
            });
            let step = runtime.block_on(node.budget.charge(Spending::steps(1)));
            prop_assert_eq!(step.is_ok(), is_open, "{:?} in {:?}", step, node.budget);
        }
    }
}

#[tokio::test]
async fn the_reason_names_the_resource_and_the_budget() {
    let parent = Budget::new(BudgetLimits {
        steps: Some(2),
        tokens: Some(100),
        ..BudgetLimits::default()
    });
    let child = parent.child(BudgetLimits {
        steps: Some(1),
        ..BudgetLimits::default()
    });
    child.charge(Spending::steps(1)).await.unwrap();
    let own = exhausted(child.charge(Spending::steps(1)).await.unwrap_err());
    assert_eq!(
        own,
        Exhausted {
            resource: Resource::Steps,
            limit: 1,
            scope: BudgetScope::Run
        }
    );
    let other = parent.child(BudgetLimits::default());
    other
        .record(Spending::tokens(100, Cost::default()))
        .await
        .unwrap();
    let parents = exhausted(other.charge(Spending::steps(1)).await.unwrap_err());
    assert_eq!(
        parents,
        Exhausted {
            resource: Resource::Tokens,
            limit: 100,
            scope: BudgetScope::Parent
        }
    );
    assert!(
        other.charge(Spending::calls(1)).await.is_ok(),
        "calls of the last turn still run"
    );
}

#[tokio::test(start_paused = true)]
async fn a_child_has_the_time_that_is_left_to_its_parent() {
    let parent = Budget::new(BudgetLimits {
        time: Some(Duration::from_secs(10)),
        ..BudgetLimits::default()
    });
    tokio::time::advance(Duration::from_secs(7)).await;
    let child = parent.child(BudgetLimits {
        time: Some(Duration::from_secs(5)),
        ..BudgetLimits::default()
    });
    let (end, exhausted) = child.deadline().unwrap();
    assert_eq!(
        (end - tokio::time::Instant::now(), exhausted.limit),
        (Duration::from_secs(3), 10_000)
    );
    assert_eq!(exhausted.scope, BudgetScope::Parent);
    child.charge(Spending::steps(1)).await.unwrap();
    tokio::time::advance(Duration::from_secs(3)).await;
    assert_eq!(
        child.charge(Spending::steps(1)).await,
        Err(BudgetError::Exhausted(exhausted))
    );
}

#[tokio::test]
async fn a_cost_follows_from_the_prices_of_a_million_tokens() {
    let price = Price::new("1.25".parse().unwrap(), "10".parse().unwrap());
    let usage = Usage {
        input_tokens: 1000,
        output_tokens: 100,
        cached_input_tokens: 0,
        ..Usage::default()
    };
    assert_eq!(price.cost(usage).to_string(), "0.00225");
    let budget = Budget::new(BudgetLimits {
        cost: Some("0.002".parse().unwrap()),
        ..BudgetLimits::default()
    });
    budget.charge(Spending::steps(1)).await.unwrap();
    budget
        .record(Spending::tokens(1100, price.cost(usage)))
        .await
        .unwrap();
    let exhausted = exhausted(budget.charge(Spending::steps(1)).await.unwrap_err());
    assert_eq!(exhausted.resource, Resource::Cost);
}

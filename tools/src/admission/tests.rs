//! Random sequences of calls: conflicting calls never run together, and every call runs in the end.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use proptest::prelude::*;
use protocol::Limits;

use super::{Admission, Key, Limiter, Permit, Request};

fn key() -> impl Strategy<Value = Key> {
    let path = prop::collection::vec(prop::sample::select(vec!["a", "b", "ab"]), 0..4);
    let path = path.prop_map(|parts| {
        if parts.is_empty() {
            ".".to_owned()
        } else {
            parts.join("/")
        }
    });
    let target = prop_oneof![
        6 => path.prop_map(|path| ("fs", path)),
        1 => prop::sample::select(vec!["a", "b"]).prop_map(|host| ("net", host.to_owned())),
        2 => prop::sample::select(vec!["t", "u"]).prop_map(|tool| ("world", tool.to_owned())),
        3 => prop::sample::select(vec!["a", "a/b", "'a/b '", "a b", "$x", "a \"$x\""]).prop_map(|words| ("exec", words.to_owned())),
    ];
    let access = prop::sample::select(vec!["read", "write", "destroy"]);
    let domain = prop::sample::select(vec!["", "", "other"]);
    (target, access, domain).prop_map(|((scheme, value), access, domain)| {
        Key::new(
            &format!("{scheme}:{access}:{value}").parse().unwrap(),
            domain,
        )
    })
}

fn conflict(a: &[Key], b: &[Key]) -> bool {
    a.iter()
        .any(|a| b.iter().any(|b| (a.writes || b.writes) && a.overlaps(b)))
}

proptest! {
    #[test]
    fn overlap_has_no_direction(a in key(), b in key()) {
        prop_assert_eq!(a.overlaps(&b), b.overlaps(&a));
        prop_assert!(a.overlaps(&a));
    }

    #[test]
    fn a_conflict_with_a_covered_key_is_one_with_the_covering_key(a in key(), b in key(), c in key()) {
        if a.covers(&b) {
            prop_assert!(a.overlaps(&b));
            let conflicts = |key: &Key| conflict(std::slice::from_ref(key), std::slice::from_ref(&c));
            prop_assert!(conflicts(&a) || !conflicts(&b));
        }
    }
}

#[test]
fn a_path_overlaps_its_ancestors_and_descendants() {
    let key = |target: &str, domain: &str| Key::new(&target.parse().unwrap(), domain);
    let overlap = |a: &str, b: &str| key(a, "").overlaps(&key(b, ""));
    assert!(overlap("fs:read:a", "fs:write:a/b"));
    assert!(overlap("fs:write:.", "fs:write:a/b"));
    assert!(overlap("fs:read:a/b", "fs:read:a/b"));
    assert!(!overlap("fs:write:a", "fs:write:ab"));
    assert!(!overlap("fs:write:a/b", "fs:write:a/c"));
    assert!(
        !overlap("net:write:a", "net:write:a/b"),
        "only paths have something below them"
    );
    assert!(!overlap("fs:write:a", "net:write:a"));
    assert!(!key("fs:write:a", "").overlaps(&key("fs:write:a", "other")));
}

#[test]
fn a_command_overlaps_itself_and_those_with_unknown_words() {
    let key = |words: &str| Key::new(&format!("exec:write:{words}").parse().unwrap(), "");
    let overlap = |a: &str, b: &str| key(a).overlaps(&key(b));
    let long = |last: &str| format!("echo '{}' {last}", "x ".repeat(5000));
    assert!(overlap("ls a/b", "ls 'a/b'") && overlap(&long("a"), &long("a")));
    assert!(
        !overlap("ls a", "ls a/b") && !overlap("ls", "ls a") && !overlap(&long("a"), &long("b"))
    );
    for unknown in ["ls $x", "$x", "rm \"$x\"", &long("$x")] {
        assert!(
            overlap(unknown, "ls a") && overlap("ls a", unknown) && overlap(unknown, "rm $y"),
            "{unknown}"
        );
    }
    assert!(!key("$x").overlaps(&Key::new(&"fs:write:.".parse().unwrap(), "")));
}

/// One step of a random sequence.
#[derive(Clone, Debug)]
enum Event {
    /// A call arrives, top-level or made by the running call with this number.
    Call {
        by: Option<usize>,
        keys: Vec<Key>,
        is_limited: bool,
    },
    /// A call is cancelled or ends.
    End(usize),
}

fn event() -> impl Strategy<Value = Event> {
    let keys = prop::collection::vec(key(), 0..3);
    let call = (prop::option::of(0..8usize), keys, prop::bool::weighted(0.2));
    prop_oneof![
        3 => call.prop_map(|(by, keys, is_limited)| Event::Call { by, keys, is_limited }),
        1 => (0..16usize).prop_map(Event::End),
    ]
}

struct Live<'a> {
    id: usize,
    permit: Permit<'a>,
    keys: Vec<Key>,
    /// The outer calls, by their numbers here and (in `numbers`) in the table.
    outer_calls: Vec<usize>,
    numbers: Vec<u64>,
    gives_up: bool,
    is_limited: bool,
}

fn limiter() -> Arc<Limiter> {
    let limits = Limits {
        max_concurrency: Some(1),
        ..Limits::default()
    };
    Arc::new(Limiter::new(&limits).unwrap().unwrap())
}

fn enqueue<'a>(
    admission: &'a Admission,
    live: &mut [Live<'a>],
    (id, by, keys, limiter): (usize, Option<usize>, Vec<Key>, Option<Arc<Limiter>>),
) -> Option<Live<'a>> {
    let running: Vec<_> = (0..live.len())
        .filter(|index| live[*index].permit.is_running())
        .collect();
    let outer = by
        .filter(|_| !running.is_empty())
        .map(|by| running[by % running.len()]);
    let (mut outer_calls, mut numbers) = (Vec::new(), Vec::new());
    if let Some(outer) = outer {
        outer_calls = [&live[outer].outer_calls[..], &[live[outer].id]].concat();
        numbers = live[outer]
            .numbers
            .iter()
            .copied()
            .chain(live[outer].permit.id())
            .collect();
    }
    let is_limited = limiter.is_some();
    let fast = (keys.is_empty() && !is_limited)
        .then(|| admission.enter(outer.is_some()))
        .flatten();
    let request = Request {
        keys: keys.clone(),
        limiter,
        is_nested: outer.is_some(),
        has_foreign: false,
        outer_calls: &numbers,
    };
    let is_fast = fast.is_some();
    let permit = fast.or_else(|| admission.register(request).ok());
    // `world` keys are released by the first nested call that needs keys or slots.
    live.iter_mut()
        .filter(|call| !is_fast && outer_calls.contains(&call.id))
        .for_each(|call| {
            call.gives_up |= call.keys.iter().all(|key| key.text.starts_with("world"));
        });
    Some(Live {
        id,
        permit: permit?,
        keys,
        outer_calls,
        numbers,
        gives_up: false,
        is_limited,
    })
}

fn check(admission: &Admission, live: &[Live<'_>], places: usize) -> Result<(), TestCaseError> {
    let running: Vec<_> = live
        .iter()
        .filter(|call| call.permit.is_running())
        .collect();
    for (index, a) in running.iter().enumerate() {
        for b in &running[index + 1..] {
            let is_related = a.outer_calls.contains(&b.id) || b.outer_calls.contains(&a.id);
            let is_out = a.gives_up || b.gives_up;
            prop_assert!(
                is_related || is_out || !conflict(&a.keys, &b.keys),
                "{:?} beside {:?}",
                a.keys,
                b.keys
            );
        }
    }
    prop_assert!(
        running
            .iter()
            .filter(|call| call.outer_calls.is_empty())
            .count()
            <= places
    );
    prop_assert!(running.iter().filter(|call| call.is_limited).count() <= 1);
    prop_assert!(admission.running() <= places);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn conflicting_calls_never_run_together_and_every_call_runs(
        events in prop::collection::vec(event(), 1..40),
        places in 1..4usize,
    ) {
        let admission = Admission::default().with_max_concurrency(places);
        let limiter = limiter();
        let mut live: Vec<Live<'_>> = Vec::new();
        for (id, event) in events.into_iter().enumerate() {
            match event {
                Event::Call { by, keys, is_limited } => {
                    let call = (id, by, keys, is_limited.then(|| limiter.clone()));
                    let call = enqueue(&admission, &mut live, call);
                    live.extend(call);
                }
                Event::End(number) if !live.is_empty() => {
                    // Nested calls end with their outer call.
                    let gone = live[number % live.len()].id;
                    live.retain(|call| call.id != gone && !call.outer_calls.contains(&gone));
                }
                Event::End(_) => {}
            }
            check(&admission, &live, places)?;
        }
        // A call ends after its nested calls. A waiting call that may not wait any longer is refused.
        while !live.is_empty() {
            let has_inner = |call: &Live<'_>| live.iter().any(|other| other.outer_calls.contains(&call.id));
            let ends = live.iter().position(|call| {
                let is_refused = !call.permit.is_running() && call.permit.is_refused();
                is_refused || (call.permit.is_running() && !has_inner(call))
            });
            prop_assert!(ends.is_some(), "{} calls wait for each other", live.len());
            live.remove(ends.unwrap());
            check(&admission, &live, places)?;
        }
        prop_assert!(admission.is_empty());
    }

    #[test]
    fn conflicting_top_level_calls_run_in_order_of_arrival(
        calls in prop::collection::vec(prop::collection::vec(key(), 0..3), 1..20),
    ) {
        let admission = Admission::default();
        let request = |keys: &Vec<Key>| Request {
            keys: keys.clone(), limiter: None, is_nested: false, has_foreign: false, outer_calls: &[],
        };
        let live: Vec<_> = calls.iter().map(|keys| admission.register(request(keys)).unwrap()).collect();
        for (index, call) in live.iter().enumerate() {
            let waits = calls[..index].iter().any(|before| conflict(before, &calls[index]));
            prop_assert_eq!(call.is_running(), !waits);
        }
    }
}

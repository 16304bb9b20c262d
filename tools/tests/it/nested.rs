//! Nested calls may do no more than the enclosing call, even if the tool changes its context.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::sample::{MAX_BLOCKING, Yes, echo, echoing, granted, holding, pure, reader};
use serde_json::{Value, json};
use tools::protocol::Limits;
use tools::{
    CancellationToken, Catalog, ErrorCode, Grant, Host, SharedCatalog, ToolContext, ToolError,
    ToolResult, handler,
};

async fn run(catalog: &Catalog, cx: &ToolContext, name: &str) -> Result<ToolResult, ToolError> {
    catalog.execute(cx, name, json!({"path": "docs/a"})).await
}

#[tokio::test]
async fn a_tool_cannot_widen_its_grant_nor_choose_its_approver() {
    let mut catalog = echoing([reader("read")]);
    let outer = async |cx: ToolContext, arguments: Value| {
        let wider = cx.host().map(|host| {
            host.with_grant(Grant::all())
                .with_approver(Arc::new(Yes::default()))
                .into()
        });
        wider.unwrap_or(cx).execute("read", arguments).await
    };
    catalog.register(pure("outer"), outer).unwrap();
    for cx in [Host::new(), granted(&["fs:read:src/**"])] {
        let error = run(&catalog, &cx, "outer").await.unwrap_err();
        assert!(
            error.code() == ErrorCode::PermissionDenied && error.tool_name() == "read",
            "{error}"
        );
    }
    run(&catalog, &granted(&["fs:read:docs/**"]), "outer")
        .await
        .unwrap();
}

#[tokio::test]
async fn a_nested_call_has_to_end_no_later_than_the_one_around_it() {
    let tell = async |cx: ToolContext, _: Value| {
        let left = cx
            .deadline()
            .unwrap()
            .saturating_duration_since(Instant::now());
        Ok::<_, String>(left <= Duration::from_secs(5))
    };
    let mut catalog = holding(pure("tell"), tell);
    let patient = async |cx: ToolContext, arguments: Value| cx.execute("tell", arguments).await;
    let limits = Limits {
        timeout_ms: Some(3_600_000),
        ..Limits::default()
    };
    catalog
        .register(pure("patient").with_limits(limits), patient)
        .unwrap();
    let cx = Host::new().with_timeout(Duration::from_secs(5));
    assert_eq!(
        run(&catalog, &cx, "patient").await.unwrap().structured,
        Some(json!(true).into())
    );
}

#[tokio::test]
async fn a_nested_call_ends_with_the_one_around_it_also_with_a_token_of_its_own() {
    let mut catalog = Catalog::new();
    let (started, stopped) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let (starting, stopping) = (started.clone(), stopped.clone());
    catalog
        .register(pure("long"), move |cx: ToolContext, _: Value| {
            starting.store(true, Ordering::Release);
            let stopping = stopping.clone();
            tokio::spawn(async move {
                cx.cancellation().cancelled().await;
                stopping.store(true, Ordering::Release);
            });
            std::future::pending::<Result<(), String>>()
        })
        .unwrap();
    let leave = async |cx: ToolContext, arguments: Value| {
        tokio::spawn(
            cx.clone()
                .with_cancellation(CancellationToken::new())
                .execute("long", arguments),
        );
        tokio::task::yield_now().await;
        Ok::<_, String>("left")
    };
    catalog.register(pure("leave"), leave).unwrap();
    run(&catalog, &Host::new(), "leave").await.unwrap();
    assert!(started.load(Ordering::Acquire));
    while !stopped.load(Ordering::Acquire) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_call_does_not_get_out_of_its_scope_by_way_of_another_catalog() {
    let outside = SharedCatalog::new();
    outside.register(pure("outside"), echo).unwrap();
    let mut catalog = Catalog::new();
    let other = outside.clone();
    catalog
        .register(pure("reach"), move |cx: ToolContext, arguments: Value| {
            other.execute(&cx, "outside", arguments)
        })
        .unwrap();
    let error = run(&catalog, &Host::new(), "reach").await.unwrap_err();
    assert!(
        error.code() == ErrorCode::NotFound && error.tool_name() == "outside",
        "{error}"
    );
    // A tool of the same name in this catalog is another tool.
    catalog.register(pure("outside"), echo).unwrap();
    run(&catalog, &Host::new(), "reach").await.unwrap_err();
    // With a context of its own, a tool may use a catalog of its own.
    outside
        .execute(&Host::new(), "outside", json!({}))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn blocking_tools_that_wait_for_blocking_tools_do_not_wait_for_each_others_places() {
    let catalog = SharedCatalog::new();
    catalog
        .register(
            pure("child"),
            handler::blocking(|_: &ToolContext, _: Value| Ok::<_, String>(())),
        )
        .unwrap();
    let all_inside = Arc::new(std::sync::Barrier::new(MAX_BLOCKING));
    let parent = move |cx: &ToolContext, arguments: Value| {
        all_inside.wait();
        tokio::runtime::Handle::current().block_on(cx.execute("child", arguments))
    };
    catalog
        .register(pure("parent"), handler::blocking(parent))
        .unwrap();
    let calls: Vec<_> = (0..MAX_BLOCKING)
        .map(|_| tokio::spawn(catalog.execute(&Host::new(), "parent", json!({}))))
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn the_hosts_time_limit_holds_at_every_depth_but_not_for_tools_that_delegate() {
    const LIMIT: Duration = Duration::from_secs(5);
    let mut catalog = holding(pure("hang"), crate::sample::hang);
    let hurries = async |cx: ToolContext, _: Value| {
        let begun = tokio::time::Instant::now();
        cx.execute("hang", json!({})).await.unwrap_err();
        begun.elapsed().as_secs().to_string()
    };
    let limits = Limits {
        timeout_ms: Some(60_000),
        delegates: true,
        ..Limits::default()
    };
    catalog
        .register(pure("hurries").with_limits(limits.clone()), hurries)
        .unwrap();
    let delegates = async |cx: ToolContext, _: Value| cx.execute("hurries", json!({})).await;
    catalog
        .register(pure("delegates").with_limits(limits), delegates)
        .unwrap();
    let cx = Host::new().with_timeout(LIMIT);
    assert_eq!(
        run(&catalog, &cx, "delegates").await.unwrap().to_text(),
        "5"
    );
    let begun = tokio::time::Instant::now();
    run(&catalog, &cx, "hang").await.unwrap_err();
    assert_eq!(begun.elapsed(), LIMIT);
}

//! `web.fetch` over a loopback server.

use std::time::Duration;

use serde_json::{Value, json};
use tools::policy::{Rule, Verdict};
use tools::{Content, ErrorCode, Policy, ToolError};
use tools_http::{HttpClient, HttpOptions};
use tools_testkit::TestHost;
use tools_testkit::http::{Received, TestServer};

pub(crate) fn host(server: &TestServer) -> TestHost {
    let options = HttpOptions {
        private_hosts: vec![
            server.address().to_string(),
            server.address().ip().to_string(),
        ],
        ..HttpOptions::default()
    };
    TestHost::new(tools_web::register)
        .with_grant(&[&format!("net:read:{}", server.address())])
        .with_service(HttpClient::from_options(options).unwrap())
}

pub(crate) async fn serve(content_type: &'static str, body: impl Into<Vec<u8>>) -> TestServer {
    let body = body.into();
    TestServer::start(move |_| TestServer::ok(content_type, &body)).await
}

/// Fetches `/` with further arguments. Returns the texts of the result.
pub(crate) async fn texts(server: &TestServer, more: Value) -> Result<Vec<String>, ToolError> {
    let result = host(server)
        .call("web.fetch", arguments(server, more))
        .await?;
    Ok(result
        .content
        .iter()
        .filter_map(Content::as_text)
        .map(str::to_owned)
        .collect())
}

fn arguments(server: &TestServer, mut more: Value) -> Value {
    more["url"] = server.url("/").into();
    more
}

#[tokio::test]
async fn a_page_is_markdown_between_boundaries() {
    let page = "<title>T &amp; U</title><nav>n</nav><h1>Head</h1><p>See <a href='x?y'>more</a>.";
    let server = serve("text/html; charset=utf-8", page).await;
    let texts = texts(&server, json!({})).await.unwrap();
    let lines: Vec<&str> = texts[0].lines().collect();
    assert!(
        lines[0].starts_with(&format!("<<< from {}", server.url("/"))),
        "{}",
        lines[0]
    );
    assert_eq!(
        lines[1..6],
        [
            "Title: T & U",
            "",
            "# Head",
            "",
            &format!("See [more]({}).", server.url("/x?y"))
        ]
    );
    assert!(
        texts[1].contains("text/html") && texts[1].contains("left out: navigation"),
        "{}",
        texts[1]
    );
}

#[tokio::test]
async fn text_and_raw_are_other_forms_of_a_page() {
    let server = serve("text/html", "<h1>A</h1><ul><li><b>b</b></ul>").await;
    let text = texts(&server, json!({"format": "text"})).await.unwrap();
    assert_eq!(text[0].lines().nth(1), Some("A"));
    assert!(text[0].contains("\n- b\n"), "{}", text[0]);
    let raw = texts(&server, json!({"format": "raw"})).await.unwrap();
    assert!(raw[0].contains("<h1>A</h1>"), "{}", raw[0]);
}

#[tokio::test]
async fn a_long_document_is_read_range_by_range() {
    let lines: String = (0..5000).map(|line| format!("line {line}\n")).collect();
    let server = serve("text/plain", lines.clone()).await;
    let (mut offset, mut read) = (0, String::new());
    loop {
        let texts = texts(&server, json!({"offset": offset, "max_chars": 20_000}))
            .await
            .unwrap();
        let (_, body) = texts[0].split_once('\n').unwrap();
        read += &body[..body.rfind("<<< end").unwrap()];
        let Some((_, next)) = texts[1].split_once("offset = ") else {
            break;
        };
        offset = next.trim_end_matches(']').parse().unwrap();
    }
    assert_eq!(read, lines);
    let error = texts(&server, json!({"offset": 1_000_000}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::ExecutionFailed);
}

#[tokio::test]
async fn a_document_is_downloaded_once_for_all_its_ranges() {
    // (header of the document, requests, downloads)
    for (header, requests, downloads) in [
        (("cache-control", "max-age=60"), 1, 1),
        (("etag", "\"1\""), 3, 1),
        (("cache-control", "no-store"), 3, 3),
    ] {
        let text: String = (0..3000).map(|line| format!("line {line:05}\n")).collect();
        let server = TestServer::start(move |request| match request.header("if-none-match") {
            Some(_) => TestServer::head("304 Not Modified", &[header]),
            None => {
                let (name, value) = header;
                let length = text.len();
                format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n{name}: {value}\r\ncontent-length: {length}\r\n\r\n{text}")
                    .into_bytes()
            }
        })
        .await;
        let host = host(&server);
        for offset in [0, 11_000, 22_000] {
            let call = arguments(&server, json!({"offset": offset, "max_chars": 11_000}));
            let result = host.call("web.fetch", call).await.unwrap();
            let first_line = format!("\nline {:05}\n", offset / 11);
            assert!(
                result.to_text().contains(&first_line),
                "{header:?}, {offset}"
            );
        }
        let received = server.received();
        let conditional = received
            .iter()
            .filter(|request| request.header("if-none-match").is_some())
            .count();
        assert_eq!(
            (received.len(), received.len() - conditional),
            (requests, downloads),
            "{header:?}"
        );
    }
}

#[tokio::test]
async fn a_busy_or_failing_server_is_transient() {
    for (status, retry_after, code, wait) in [
        (
            "429 Too Many Requests",
            Some("0"),
            ErrorCode::Transient,
            Some(Duration::ZERO),
        ),
        (
            "503 Service Unavailable",
            Some("Thu, 01 Jan 1970 00:00:00 GMT"),
            ErrorCode::Transient,
            Some(Duration::ZERO),
        ),
        (
            "500 Internal Server Error",
            None,
            ErrorCode::Transient,
            None,
        ),
        ("404 Not Found", Some("0"), ErrorCode::ExecutionFailed, None),
    ] {
        let headers: Vec<_> = retry_after
            .map(|wait| ("retry-after", wait))
            .into_iter()
            .collect();
        let server = TestServer::start(move |_| TestServer::head(status, &headers)).await;
        let error = texts(&server, json!({})).await.unwrap_err();
        assert_eq!(
            (error.code(), error.retry_after()),
            (code, wait),
            "{status}"
        );
        assert!(error.to_string().contains(&status[..3]), "{error}");
    }
}

#[tokio::test]
async fn a_full_range_is_within_the_output_limit() {
    let server = serve("text/plain; charset=utf-8", "€".repeat(60_000)).await;
    let texts = texts(&server, json!({"max_chars": 50_000})).await.unwrap();
    assert_eq!(texts[0].matches('€').count(), 50_000);
    assert!(texts[1].contains("offset = 50000"), "{}", texts[1]);
}

#[tokio::test]
async fn the_charset_is_found() {
    for (content_type, body, expected) in [
        (
            "text/html",
            &b"<meta charset=windows-1251><p>\xCF\xF0\xE8\xE2\xE5\xF2"[..],
            "Привет",
        ),
        (
            "text/html; charset=shift_jis",
            b"<p>\x83e\x83X\x83g",
            "テスト",
        ),
        ("text/plain", b"caf\xE9", "café"),
        (
            "application/xml",
            b"<?xml version='1.0' encoding='iso-8859-2'?><a>\xB1</a>",
            "ą",
        ),
    ] {
        let server = serve(content_type, body).await;
        let texts = texts(&server, json!({})).await.unwrap();
        assert!(texts[0].contains(expected), "{}", texts[0]);
    }
}

#[tokio::test]
async fn an_image_is_image_content() {
    let png = b"\x89PNG\r\n\x1a\nrest";
    let server = serve("image/png", png).await;
    let result = host(&server)
        .call("web.fetch", arguments(&server, json!({})))
        .await
        .unwrap();
    let is_image = |content: &Content| matches!(content, Content::Image { mime_type, .. } if mime_type == "image/png");
    assert!(result.content.iter().any(is_image), "{:?}", result.content);
}

#[tokio::test]
async fn what_has_no_text_is_refused_with_type_and_size() {
    for (content_type, body, words) in [
        (
            "application/zip",
            vec![0; 7],
            ["application/zip", "7 bytes"],
        ),
        ("application/pdf", b"%PDF-1.7 ".to_vec(), ["PDF", "9 bytes"]),
        (
            "application/octet-stream",
            b"%PDF-1.7 ".to_vec(),
            ["PDF", "HTML"],
        ),
        (
            "image/png",
            [b"\x89PNG\r\n\x1a\n".to_vec(), vec![0; 6_000_000]].concat(),
            ["image", "6000008 bytes"],
        ),
    ] {
        let server = serve(content_type, body).await;
        let message = texts(&server, json!({})).await.unwrap_err().to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
}

#[tokio::test]
async fn an_error_status_carries_the_beginning_of_the_page() {
    let server = TestServer::start(|_: &Received| {
        let body = "<h1>Gone fishing</h1>";
        format!(
            "HTTP/1.1 404 Not Found\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    })
    .await;
    let error = texts(&server, json!({})).await.unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("404")
            && message.contains("# Gone fishing")
            && message.contains("<<< end"),
        "{message}"
    );
}

#[tokio::test]
async fn a_redirect_is_named_and_links_follow_it() {
    let server = TestServer::start(|request| match request.path() {
        "/" => TestServer::head("302 Found", &[("location", "/docs/page")]),
        _ => TestServer::ok("text/html", "<a href=next>Next</a>"),
    })
    .await;
    let texts = texts(&server, json!({})).await.unwrap();
    assert!(texts[0].contains(&server.url("/docs/next")), "{}", texts[0]);
    assert!(
        texts[1].contains(&format!("redirected from {}", server.url("/"))),
        "{}",
        texts[1]
    );
}

#[tokio::test]
async fn a_redirect_to_a_host_that_is_not_granted_is_named_and_not_read() {
    let other = serve("text/plain", "secret").await;
    let location = other.url("/there");
    let server =
        TestServer::start(move |_| TestServer::head("302 Found", &[("location", &location)])).await;
    let texts = texts(&server, json!({})).await.unwrap();
    assert!(
        texts[0].contains(&other.url("/there")) && texts[0].contains("not read"),
        "{}",
        texts[0]
    );
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn a_redirect_to_a_host_that_a_rule_denies_is_the_denial() {
    let other = serve("text/plain", "secret").await;
    let location = other.url("/there");
    let server =
        TestServer::start(move |_| TestServer::head("302 Found", &[("location", &location)])).await;
    let clause = format!("net:read:{}", other.address()).parse().unwrap();
    let mut rule = Rule::for_target(Verdict::Deny, clause);
    rule.reason = Some("it is ours".to_owned());
    let host = host(&server)
        .with_context(move |cx| cx.with_policy(Policy::by_effects().with_rules([rule.clone()])));
    let error = host
        .call("web.fetch", arguments(&server, json!({})))
        .await
        .unwrap_err();
    assert!(
        error.code() == ErrorCode::Denied && error.to_string().contains("it is ours"),
        "{error}"
    );
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn a_long_address_is_cut_outside_of_the_boundary() {
    let long = format!("/{}", "x".repeat(3000));
    let location = long.clone();
    let other = serve("text/plain", "secret").await;
    let elsewhere = other.url(&long);
    let server = TestServer::start(move |request| match request.path() {
        "/" => TestServer::head("302 Found", &[("location", &location)]),
        "/away" => TestServer::head("302 Found", &[("location", &elsewhere)]),
        _ => TestServer::ok("application/zip", b"PK\0"),
    })
    .await;
    let message = texts(&server, json!({})).await.unwrap_err().to_string();
    assert!(
        message.contains("cannot be read") && message.len() < 1000,
        "{message}"
    );
    let result = host(&server)
        .call("web.fetch", json!({"url": server.url("/away")}))
        .await
        .unwrap()
        .to_text();
    let (line, text) = result.split_once('\n').unwrap();
    assert!(
        line.len() < 1000 && text.contains(&other.url(&long)) && text.contains("<<< end"),
        "{result}"
    );
}

#[tokio::test]
async fn a_host_needs_a_grant() {
    let server = serve("text/plain", "text").await;
    let error = host(&server)
        .with_grant(&[])
        .call("web.fetch", arguments(&server, json!({})))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::PermissionDenied);
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn json_is_indented_and_exact() {
    let server = serve(
        "application/json",
        r#"{"id":12345678901234567890123,"l":[1]}"#,
    )
    .await;
    let texts = texts(&server, json!({})).await.unwrap();
    assert!(
        texts[0].contains("{\n  \"id\": 12345678901234567890123,\n"),
        "{}",
        texts[0]
    );
}

#[tokio::test]
async fn a_page_that_needs_scripts_says_so() {
    let scripts = "<script src=/a.js></script>";
    for (page, needs) in [
        (format!("<div id=root></div>{scripts}"), true),
        (
            format!(
                "<noscript>Please enable JavaScript</noscript><p>Loading the page of this app</p>{scripts}"
            ),
            true,
        ),
        (
            format!(
                "<div id=__next><p>{}</p></div>{scripts}",
                "Text. ".repeat(100)
            ),
            false,
        ),
        (
            format!("<h1>A short page with one script</h1><p>It has text.</p>{scripts}"),
            false,
        ),
        ("<p>Hi</p>".to_owned(), false),
    ] {
        let server = serve("text/html", page.clone()).await;
        let texts = texts(&server, json!({})).await.unwrap();
        assert_eq!(
            texts[1].contains("JavaScript"),
            needs,
            "{page}: {}",
            texts[1]
        );
    }
}

#[tokio::test]
async fn a_page_that_is_only_a_refresh_names_its_target() {
    let script = |code: &str| format!("<html><body><script>{code}</script></body></html>");
    for (page, next) in [
        (
            "<meta http-equiv=refresh content='0; url=next/page.html'>".to_owned(),
            Some("/next/page.html"),
        ),
        (
            "<META HTTP-EQUIV=\"Refresh\" CONTENT=\"5;URL='/b?c=d&amp;e'\"><p>This page has moved."
                .to_owned(),
            Some("/b?c=d&e"),
        ),
        (
            "<noscript><meta http-equiv=refresh content='0;url=/plain'></noscript>".to_owned(),
            Some("/plain"),
        ),
        (
            "<base href=/docs/><meta http-equiv=refresh content=0;intro>".to_owned(),
            Some("/docs/intro"),
        ),
        (
            script("window.location.replace('/latest/')"),
            Some("/latest/"),
        ),
        (
            script("window.location.href = \"/en\" + location.search"),
            Some("/en"),
        ),
        (
            "<meta http-equiv=refresh content=30><p>Scores".to_owned(),
            None,
        ),
        (
            "<meta http-equiv=refresh content='30; url=/'><p>Scores".to_owned(),
            None,
        ),
        (
            "<meta http-equiv=refresh content='0; url=javascript:1'>".to_owned(),
            None,
        ),
        (
            format!(
                "<meta http-equiv=refresh content='900; url=/x'><p>{}",
                "Text. ".repeat(100)
            ),
            None,
        ),
    ] {
        let server = serve("text/html", page.clone()).await;
        for (format, is_link) in [("markdown", true), ("text", false)] {
            let texts = texts(&server, json!({"format": format})).await.unwrap();
            assert_eq!(
                texts[1].contains("leads on"),
                next.is_some(),
                "{page}: {texts:?}"
            );
            if let Some(next) = next {
                let shown = if is_link {
                    format!("]({})", server.url(next))
                } else {
                    server.url(next)
                };
                assert!(texts[0].contains(&shown), "{page}: {texts:?}");
            }
        }
    }
}

#[tokio::test]
async fn an_answer_whose_header_leads_on_names_its_target() {
    for (status, name, value, body, next) in [
        (
            "200 OK",
            "refresh",
            "0; url=next/page.html",
            "",
            Some("/next/page.html"),
        ),
        (
            "200 OK",
            "refresh",
            "3;URL='/b?c=d'",
            "This page has moved.",
            Some("/b?c=d"),
        ),
        (
            "403 Forbidden",
            "refresh",
            "1; url=/login",
            "",
            Some("/login"),
        ),
        ("300 Multiple Choices", "location", "/en", "", Some("/en")),
        ("200 OK", "location", "/made", "made", None),
        ("200 OK", "refresh", "30", "Scores", None),
        ("200 OK", "refresh", "30; url=/", "Scores", None),
        ("200 OK", "refresh", "0; url=javascript:1", "", None),
        (
            "200 OK",
            "refresh",
            "0; url=/x",
            "Text. ".repeat(100).leak(),
            None,
        ),
    ] {
        for kind in ["text/html", "text/plain"] {
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{name}: {value}\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            let server = TestServer::start(move |_| answer.as_bytes().to_vec()).await;
            let text = texts(&server, json!({}))
                .await
                .map_or_else(|error| error.to_string(), |texts| texts.concat());
            assert!(text.contains(body.trim()), "{value}: {text}");
            match next {
                Some(next) => assert!(
                    text.contains(&format!("\n{}\n", server.url(next))),
                    "{value}: {text}"
                ),
                None => assert!(!text.contains("leads on"), "{value}: {text}"),
            }
        }
    }
}

#[tokio::test]
async fn redirects_that_end_in_an_empty_body_name_their_target() {
    for status in ["200 OK", "204 No Content"] {
        let server = TestServer::start(move |request| match request.path() {
            "/" => TestServer::head("302 Found", &[("location", "/b")]),
            "/b" => TestServer::head("301 Moved Permanently", &[("location", "/end")]),
            _ => TestServer::head(status, &[]),
        })
        .await;
        let texts = texts(&server, json!({})).await.unwrap();
        assert!(
            texts[0].contains(&server.url("/end")) && texts[1].contains("redirected from"),
            "{texts:?}"
        );
    }
}

#[tokio::test]
async fn soft_hyphens_are_no_part_of_the_text() {
    let page = "<title>Donau&shy;dampf</title><h1>Donau\u{AD}dampf</h1><p>Schiff&#173;fahrts<b>ge\u{AD}sell</b>schaft \
                <a href=/a title='x'>Kapi&#xAD;tän</a> <img src=/b alt='Mü&shy;tze'> <code>some&shy;name</code>\
                <pre>other&shy;name</pre><table><tr><th>Spal&shy;te<tr><td>Wer&shy;t</table>";
    let server = serve("text/html; charset=utf-8", page).await;
    for format in ["markdown", "text"] {
        let texts = texts(&server, json!({"format": format})).await.unwrap();
        assert!(!texts[0].contains('\u{AD}'), "{}", texts[0]);
        for word in [
            "Title: Donaudampf",
            "Kapitän",
            "Mütze",
            "somename",
            "othername",
            "Spalte",
            "Wert",
        ] {
            assert!(texts[0].contains(word), "{word}: {}", texts[0]);
        }
    }
}

#[tokio::test]
async fn marks_of_line_breaks_are_no_part_of_the_text() {
    let page = "<title>Donau&#8203;dampf</title><p>Schiff\u{200B}fahrts \u{2060}Kapi\u{FEFF}tän<pre>some\u{200B}name</pre>";
    let server = serve("text/html; charset=utf-8", page).await;
    for format in ["markdown", "text"] {
        let texts = texts(&server, json!({"format": format})).await.unwrap();
        for word in ["Title: Donaudampf", "Schifffahrts Kapitän", "somename"] {
            assert!(texts[0].contains(word), "{word}: {}", texts[0]);
        }
    }
}

#[tokio::test]
async fn the_text_for_browsers_without_scripts_is_shown_if_there_is_little_else() {
    let words = "Many words of the content. ".repeat(20);
    let hidden = "<noscript><p>Few words</noscript>";
    for (page, is_shown) in [
        (
            format!(
                "<div id=root></div><script src=/a.js></script><noscript><p>{words}</noscript>"
            ),
            true,
        ),
        (
            format!("<p>Title</p><noscript><p>Part</noscript>{hidden}"),
            true,
        ),
        (format!("<p>{words}</p>{hidden}"), false),
        (
            format!("<noscript>Please enable JavaScript</noscript>{hidden}"),
            false,
        ),
        (format!("<nav>{hidden}</nav><p>x"), false),
    ] {
        let server = serve("text/html", page.clone()).await;
        let text = texts(&server, json!({})).await.unwrap().concat();
        assert_eq!(
            text.contains("Few words") || text.contains("Many words") && !page.starts_with("<p>M"),
            is_shown,
            "{page}: {text}"
        );
    }
}

#[tokio::test]
async fn frames_and_declared_shadow_trees_are_shown() {
    let page = "<frameset><frame src=/menu name=m><frame src=/text title=Text></frameset>\
                <template><p>hidden</template><template shadowrootmode=open><p>shown</template>";
    let server = serve("text/html", page).await;
    let text = texts(&server, json!({})).await.unwrap().concat();
    for part in [
        server.url("/menu"),
        server.url("/text"),
        "Text".to_owned(),
        "\nshown\n".to_owned(),
    ] {
        assert!(text.contains(&part), "{part}: {text}");
    }
    assert!(!text.contains("hidden"), "{text}");
}

#[tokio::test]
async fn a_part_that_contains_main_or_article_is_never_left_out() {
    let words = "Many words of the content. ".repeat(20);
    for page in [
        format!(
            "<nav>menu</nav><div class=cookie-banner-wrapper>a<main><p>{words}</main></div><footer>end</footer>"
        ),
        format!("<div role=dialog><article><p>{words}</article></div>"),
        format!("<aside class=sidebar><nav>menu<div role=main><p>{words}</div></nav></aside>"),
        format!("<footer><section><article><p>{words}</section></footer>"),
        format!(
            "<main><p>{}</main><article><p>{words}</article>",
            "Something else. ".repeat(20)
        ),
        format!("<div role=banner><p>{words}<main><p>Something else.</main></div>"),
    ] {
        let server = serve("text/html", page.clone()).await;
        let text = texts(&server, json!({})).await.unwrap().concat();
        assert!(text.contains(words.trim()), "{page}: {text}");
        assert!(
            !text.contains("\nmenu\n") || page.contains("sidebar"),
            "{page}: {text}"
        );
    }
}

#[tokio::test]
async fn a_hidden_part_with_main_or_article_is_shown_only_if_the_page_has_nothing_else() {
    for (before, after) in [
        ("<main hidden>", "</main>"),
        ("<article aria-hidden=true>", "</article>"),
        ("<div role=main style='display: none'>", "</div>"),
        ("<div hidden><p>x<main>", "</main></div>"),
        (
            "<nav>menu</nav><div style=visibility:hidden><article>",
            "</article></div>",
        ),
        (
            "<nav>menu<main hidden>",
            "</main></nav><main hidden>shown</main>",
        ),
    ] {
        let part = format!("{before}<p>Secret words{after}");
        for (page, is_shown) in [
            (format!("<p>The page.</p>{part}"), false),
            (part.clone(), !part.contains("shown")),
        ] {
            let server = serve("text/html", page.clone()).await;
            let text = texts(&server, json!({})).await.unwrap().concat();
            assert_eq!(text.contains("Secret words"), is_shown, "{page}: {text}");
            assert!(!text.contains("menu"), "{page}: {text}");
            assert_eq!(
                text.contains("shown"),
                !is_shown && page == part,
                "{page}: {text}"
            );
        }
    }
}

#[tokio::test]
async fn the_charset_is_that_of_the_header_the_mark_the_page_or_a_guess() {
    let russian = "Съешь же ещё этих мягких французских булок";
    let bytes = |label: &str| {
        tools_text::TextEncoding::from_label(label)
            .unwrap()
            .encode(russian, false)
            .unwrap()
    };
    let utf16 = [&b"\xFF\xFE"[..], &bytes("utf-16le")].concat();
    let late = [
        vec![b' '; 2000],
        b"<meta charset=koi8-r>".to_vec(),
        bytes("koi8-r"),
    ]
    .concat();
    for (content_type, body) in [
        ("text/html; charset=windows-1251", bytes("windows-1251")),
        ("text/html;charset=\"koi8-r\";", bytes("koi8-r")),
        ("text/html; Charset='ibm866' ; x", bytes("ibm866")),
        ("text/html; charset=utf-8", utf16),
        ("text/html", late),
        ("text/html; charset=nonesuch", bytes("windows-1251")),
        ("text/plain", bytes("koi8-r")),
    ] {
        let server = serve(content_type, body).await;
        let text = texts(&server, json!({})).await.unwrap().concat();
        assert!(text.contains(russian), "{content_type}: {text}");
    }
}

#[tokio::test]
async fn codings_of_careless_servers_are_read_and_a_cut_is_named() {
    use std::io::Write as _;

    let page = (0..3000)
        .map(|line| format!("<p>Line {line}"))
        .collect::<String>();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(page.as_bytes()).unwrap();
    let whole = encoder.finish().unwrap();
    let cut = whole[..whole.len() / 2].to_vec();
    for (coding, body, is_cut) in [("x-gzip", whole, false), ("gzip", cut, true)] {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-encoding: {coding}\r\ncontent-length: {length}\r\n\r\n"
        );
        let server = TestServer::start(move |_| [head.as_bytes(), &body].concat()).await;
        let texts = texts(&server, json!({})).await.unwrap();
        assert!(texts[0].contains("Line 7\n"), "{}", texts[0]);
        assert_eq!(texts[1].contains("is cut"), is_cut, "{}", texts[1]);
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-encoding: zstd\r\ncontent-length: 4\r\n\r\ntext";
    let server = TestServer::start(move |_| head.as_bytes().to_vec()).await;
    let error = texts(&server, json!({})).await.unwrap_err().to_string();
    assert!(error.contains("zstd"), "{error}");
}

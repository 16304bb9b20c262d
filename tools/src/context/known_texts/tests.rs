use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const HOST: &str = "https://api.example.org";

fn known(prompt: &str) -> KnownTexts {
    let known = KnownTexts::new();
    known.add_prompt(prompt);
    known
}

#[track_caller]
fn assert_known(known: &KnownTexts, expected: bool, paths: &[&str]) {
    for path in paths {
        assert_eq!(known.contains(&format!("{HOST}{path}")), expected, "{path}");
    }
}

#[test]
fn a_run_of_words_of_a_prompt_may_follow_the_host() {
    let known = known(
        "Get the weather in Berlin and New\n York, from /v1/forecast?id=42-b and /docs/. Größe? (C++)",
    );
    let yes = [
        "",
        "/",
        "/#fragment",
        "/weather",
        "/weather#fragment",
        "/v1/forecast?id=42-b",
        "/v1/forecast",
        "/docs/",
        "/berlin%20and%20new",
        "/New+York",
        "/New%20York",
        "/Gr%C3%B6%C3%9Fe",
        "/Größe",
        "/größe",
        "/v1%2Fforecast%3Fid%3D42-b",
        "/v1%2Fforecast",
        "/weather%20in%20Berlin",
        "/v1/",
        "/v1%2F",
    ];
    assert_known(&known, true, &yes);
    let no = [
        "/secret",
        "/weath",
        "/eather",
        "/w",
        "/weather/Berlin",
        "/weather?in=Berlin",
        "/Berlin/weather",
        "/weather-in-Berlin",
        "/weather/",
        "//weather",
        "/weather//",
        "/weather?",
        "/weather?&&",
        "/?weather",
        "/?q=weather",
        "/.weather",
        "/WEATHER",
        "/berlin%20and%20New",
        "/weaTher",
        "/%77eather",
        "/Gr%c3%b6%c3%9fe",
        "/v1%2Fforecast?id=42-b",
        "/New+York%2C%20from",
        "/forecast?id=4",
        "/weather%00",
        "/weather%zz",
        "/weather%2",
        "/../weather",
        "/%2e%2e/weather",
        "/weather;Berlin",
        "/weather\\Berlin",
        "/-b",
        "/%20Berlin",
        "//v1",
        "/%2Fv1",
    ];
    assert_known(&known, false, &no);
    for url in [
        "",
        "weather",
        "api.example.org/weather",
        "https://a@api.example.org/",
        "https:///",
        "wss://a.example/",
    ] {
        assert!(!known.contains(url), "{url}");
    }
}

#[test]
fn a_run_has_at_most_sixteen_words_of_one_prompt() {
    let words: Vec<_> = (0..40).map(|number| format!("w{number}")).collect();
    let known = known(&words.join(" "));
    known.add_prompt("another");
    assert_known(&known, true, &[&format!("/{}", words[4..20].join("+"))]);
    assert_known(
        &known,
        false,
        &[
            &format!("/{}", words[4..21].join("+")),
            "/w1+w3",
            "/w2+w1",
            "/w39+another",
        ],
    );
}

#[test]
fn a_run_may_replace_the_end_of_a_url_that_was_read_or_stands_in_a_prompt_and_of_no_link() {
    let known = known(
        "compare serde and rkyv, see https://api.example.org/find?q=serde and api.example.org/crates/serde.",
    );
    known.add_url(&format!("{HOST}/read/serde?a=b"));
    known.add_links(HOST, "https://api.example.org/link/serde?l=m");
    let yes = [
        "/find?q=serde",
        "/find?q=rkyv",
        "/find?q=serde+and+rkyv",
        "/crates/serde",
        "/crates/rkyv",
        "/read/serde?a=b",
        "/read/serde?a=rkyv",
        "/link/serde?l=m",
    ];
    assert_known(&known, true, &yes);
    let no = [
        "/find?q=secret",
        "/find?q=rkyv&q=serde",
        "/find?rkyv=serde",
        "/crates/rkyv?q=serde",
        "/crates/rkyv/serde",
        "/read/rkyv",
        "/read/rkyv?a=b",
        "/link/rkyv",
        "/link/serde?l=rkyv",
        "/link/serde",
        "/link/serde?q=serde",
        "/find?q=",
        "/crates/serde/",
    ];
    assert_known(&known, false, &no);
}

#[test]
fn a_url_of_a_prompt_is_known_and_a_changed_one_is_not() {
    let known = known(
        "read https://api.example.org/a/b/c/d/e/f/g/h/i?a=b&a=b#top, (api.example.org/x_(y)/z) please",
    );
    let yes = [
        "/a/b/c/d/e/f/g/h/i?a=b&a=b",
        "/a/b/c/d/e/f/g/h/i?a=b&a=b#other",
        "/x_(y)/z",
    ];
    assert_known(&known, true, &yes);
    assert_known(
        &known,
        false,
        &[
            "/a/b/c/d/e/f/g/h/i?a=b&a=bc",
            "/a/b/c/d/e/f/g/h/i?a=b&a=",
            "/x_(y)/",
        ],
    );
    let known =
        self::known("read https://api.example.org/x_(y)/z, HTTPS://b.example/X and src/a/main.rs");
    assert!(!known.contains("https://src/a/read"));
    for url in [
        "HTTPS://API.example.org:443/x_(y)/z",
        "https://other.example/",
        "https://b.example/X",
    ] {
        assert!(known.contains(url), "{url}");
    }
    let long = format!("/{}", "x/".repeat(20));
    known.add_prompt(&format!("{HOST}{long}"));
    assert_known(&known, true, &[&long]);
    for url in [
        "https://api.example.org:444",
        "http://api.example.org",
        "https://api.example.net",
    ] {
        assert!(!known.contains(&format!("{url}{long}")), "{url}");
    }
}

#[test]
fn a_link_is_known_for_the_host_of_its_document_alone() {
    let known = KnownTexts::new();
    let page = "[More](https://api.example.org/more_(1)?page=2#x), see <https://other.example/x>.\n\
                {\"next\": \"https://API.example.org/next?a=1&amp;b=2\"} or https://api.example.org/end. \
                https://api.example.org/slash/ https://api.example.org/q?x=1";
    known.add_links("https://api.example.org/start?q=1", page);
    let yes = [
        "/more_(1)?page=2",
        "/more_(1)?page=2#y",
        "/next?a=1&b=2",
        "/end",
        "/slash/",
        "/q?x=1",
    ];
    assert_known(&known, true, &yes);
    let no = [
        "/more_(1)?page=3",
        "/more_(1)",
        "/%65nd",
        "/END",
        "/end/",
        "/slash",
        "//slash/",
        "/./end",
        "/end;a",
        "/end?",
        "/end?x=1",
        "/q",
        "/next?b=2&a=1",
        "/next?a=1&b=2&",
        "/next?a=1&&b=2",
        "/end%20",
        "/q?x=+1",
        "/slash/end",
    ];
    assert_known(&known, false, &no);
    for url in [
        "https://other.example/x",
        "https://api.example.org:8443/end",
        "https://user@api.example.org/end",
    ] {
        assert!(!known.contains(url), "{url}");
    }
}

#[test]
fn a_host_is_known_if_it_was_read_or_stands_in_a_prompt() {
    let known = known(
        "look at docs.example, and at https://a.example/x or b.example/y or https://[2001:db8::1]/z",
    );
    known.add_url("https://read.example/x?y=z");
    known.add_links("https://read.example/", "https://link.read.example/");
    for host in [
        "docs.example",
        "a.example",
        "b.example",
        "read.example",
        "A.EXAMPLE",
        "[2001:db8::1]",
    ] {
        assert!(known.contains_host(&format!("https://{host}/")), "{host}");
    }
    for host in [
        "other.example",
        "src",
        "secret.a.example",
        "link.read.example",
        "a.example:81",
        "x.example",
    ] {
        assert!(!known.contains_host(&format!("https://{host}/")), "{host}");
    }
}

#[test]
fn prompts_of_strangers_and_text_from_outside_do_not_count() {
    let known = KnownTexts::without_prompts();
    known.add_prompt("secret https://api.example.org/a/b");
    assert_known(&known, false, &["/secret", "/a/b"]);
    let own = crate::OutsideText::new("the prompt of a server", "secret").to_string();
    let known = self::known(&format!("I chose https://api.example.org/a/b.\n{own}\n"));
    assert_known(&known, true, &["/chose", "/a/b"]);
    assert_known(&known, false, &["/secret"]);
    known.ignore_prompts();
    assert_known(&known, false, &["/chose", "/a/b"]);
}

#[test]
fn urls_and_texts_of_earlier_calls_are_known() {
    let known = KnownTexts::new();
    let arguments = serde_json::json!({"url": format!("{HOST}/a/x"), "more": [{"url": "HTTPS://api.example.org/b"}], "text": "secret"});
    known.add_call(&arguments.into());
    assert_known(&known, true, &["/a/x", "/b"]);
    assert_known(&known, false, &["/a", "/secret"]);
    known.add_text("one text");
    assert!(known.contains_text("one text") && !known.contains_text("one"));
}

#[test]
fn a_spelling_with_escapes_is_one_of_three() {
    let known = known("the share of a/b%c is 5%");
    assert_known(&known, true, &["/a/b%25c", "/a%2Fb%25c"]);
    assert_known(&known, false, &["/a/b%c", "/a/b%2525c"]);
    known.add_url(&format!("{HOST}/ä/x?a=1"));
    assert_known(&known, true, &["/%C3%A4/x?a=1", "/ä/x?a=1"]);
    assert_known(&known, false, &["/%c3%a4/x?a=1"]);
}

#[test]
fn urls_are_counted_until_a_person_answers() {
    let known = KnownTexts::new();
    let count = |number: u32| known.count_url(&format!("{HOST}/{number}"));
    for number in 0..MAX_URLS {
        assert!(
            count(number) && count(number),
            "the next part of a document is not counted"
        );
    }
    assert!(
        count(MAX_URLS - 1) && !count(0) && !count(MAX_URLS),
        "an earlier one counts again"
    );
    let resumed = KnownTexts::new();
    resumed.restore_count(known.count());
    resumed.restore_count(UrlCount::default());
    assert!(!resumed.count_url(HOST) && !resumed.count_url("no URL"));
    resumed.reset_count();
    assert!(resumed.count_url(HOST));
}

#[test]
fn the_memory_is_bounded() {
    let known = known("first");
    for _ in 0..4 {
        known.add_prompt(&"x".repeat(MAX_PROMPT_BYTES / 4));
    }
    assert_known(&known, false, &["/first"]);
    for number in 0..3_000 {
        known.add_url(&format!("{HOST}/{number}/{}", "y".repeat(8_000)));
    }
    let texts = known.lock();
    assert!(
        texts.prompts.iter().map(Prompt::size).sum::<usize>() <= MAX_PROMPT_BYTES
            && texts.bytes <= MAX_URL_BYTES
    );
    assert_eq!(
        texts.bytes,
        texts
            .sent
            .iter()
            .chain(&texts.stems)
            .map(String::len)
            .sum::<usize>()
    );
}

/// The words of the prompt of the property. Some stand in the links too.
const WORDS: [&str; 5] = ["Rust", "async", "a", "b", "c"];

const LINKS: [&str; 4] = ["/", "/a/b?x=1", "/c/?x=2&y=a", "/%C3%A4"];

/// Returns each URL that the rule allows, as it is sent.
fn allowed() -> BTreeSet<String> {
    let mut urls: BTreeSet<_> = LINKS.iter().map(|link| format!("{HOST}{link}")).collect();
    for stem in ["/", "/read/"] {
        urls.insert(format!("{HOST}/read/a"));
        for from in 0..WORDS.len() {
            for to in from + 1..=WORDS.len() {
                let run = WORDS[from..to].join(" ");
                for run in [run.to_lowercase(), run] {
                    urls.extend(
                        ["+", "%20"]
                            .map(|space| format!("{HOST}{stem}{}", run.replace(' ', space))),
                    );
                }
            }
        }
    }
    urls
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn each_known_url_is_one_of_few(
        parts in prop::collection::vec(select(vec![
            "/", "/", "?", "&", "=", ";", "+", "%20", "%2e", "%2F", "%61", "%c3%a4", "%C3%A4", ".", "..", "#", "a", "b", "c",
            "x", "1", "2", "y", "Rust", "rust", "async", "RUST", "read", "ä", "a/b?x=1", "c/?x=2&y=a", "read/",
        ]), 0..7),
        scheme in select(vec!["https://", "HTTPS://", "http://"]),
        host in select(vec!["api.example.org", "API.example.org", "api.example.org:443", "api.example.org."]),
    ) {
        let known = known(&WORDS.join(" "));
        known.add_url(&format!("{HOST}/read/a"));
        known.add_links(HOST, &LINKS.map(|link| format!("{HOST}{link}")).join(" "));
        let url = format!("{scheme}{host}/{}", parts.concat());
        if known.contains(&url) {
            let sent = UrlParts::new(&url).unwrap().text.replace("http://", "https://").replace(":443/", "/");
            prop_assert!(allowed().contains(&sent), "{url}");
        }
    }
}

#[test]
fn a_period_has_a_number_of_urls_from_its_first_one_on() {
    let mut count = UrlCount::default();
    for now in 0..u64::from(MAX_URLS) {
        assert!(count.add_at(1_000 + now));
    }
    for now in [1_100, 0, 1_000 + PERIOD - 1] {
        assert!(!count.add_at(now), "{now}");
    }
    for now in 0..u64::from(MAX_URLS) {
        assert!(count.add_at(1_000 + PERIOD + now));
    }
    assert!(
        !count.add_at(1_000 + PERIOD + 100),
        "the new period has its own number"
    );
}

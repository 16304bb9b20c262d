//! Prints the time and memory of `web.fetch` of a page of 200 KB, and of the same work done directly:
//! `cargo run --release -p toolcrib-benches --features web --bin fetch`
//!
//! The server is a process of its own, so that its memory is not counted.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // A failure invalidates the measurement; the figures go to stdout.

use std::hint::black_box;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use peak_alloc::PeakAlloc;
use serde_json::json;
use tools::{Catalog, Grant, Host};
use tools_http::{HttpClient, HttpOptions, Url};
use tools_web::{Document, Format, Source};

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// A page of the documentation of `std` with one method of `Option`, and a table of the rustc book (both of Rust 1.95.0, MIT or
/// Apache-2.0).
const PIECE: &str = include_str!("../page.html");

/// The length of the page in bytes.
const LENGTH: usize = 200_000;

/// The rounds of each measurement. They take turns, so that other load meets all of them.
const ROUNDS: usize = 300;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("serve") => serve(),
        _ => measure(),
    }
}

/// Repeats the method and the table up to the length.
fn page() -> String {
    let (begin, rest) = PIECE.split_once("<!-- repeated -->").unwrap();
    let (repeated, end) = rest
        .split_once("<!-- end of the repeated part -->")
        .unwrap();
    let count = (LENGTH - begin.len() - end.len()) / repeated.len() + 1;
    [begin, &repeated.repeat(count), end].concat()
}

/// Serves the page on a loopback port, which it prints.
fn serve() {
    let body = page();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ncache-control: no-store\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let response: &'static [u8] = (head + &body).into_bytes().leak();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        std::thread::spawn(move || while answer(&mut stream, response).is_some() {});
    }
}

/// Answers one request of a connection. Returns `None` at its end.
fn answer(stream: &mut TcpStream, response: &[u8]) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).ok().filter(|count| *count > 0)?;
        head.extend_from_slice(&piece[..count]);
    }
    stream.write_all(response).ok()
}

/// The server in a process of its own, which ends with this value.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    fn start() -> Self {
        let program = std::env::current_exe().unwrap();
        let mut process = Command::new(program)
            .arg("serve")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(
            &mut std::io::BufReader::new(process.stdout.take().unwrap()),
            &mut line,
        )
        .unwrap();
        Self {
            process,
            port: line.trim().parse().unwrap(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// The time and the peak of the heap of each round.
#[derive(Default)]
struct Figures {
    micros: Vec<f64>,
    bytes: Vec<f64>,
}

impl Figures {
    /// Runs one round and returns its result.
    async fn round<T>(&mut self, work: impl Future<Output = T>) -> T {
        HEAP.reset_peak_usage();
        let (before, start) = (HEAP.current_usage(), Instant::now());
        let result = black_box(work.await);
        self.micros.push(start.elapsed().as_secs_f64() * 1e6);
        self.bytes
            .push(HEAP.peak_usage().saturating_sub(before) as f64);
        result
    }

    /// Returns the medians of time and memory.
    fn medians(mut self) -> (f64, f64) {
        (median(&mut self.micros), median(&mut self.bytes))
    }
}

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn measure() {
    let server = Server::start();
    let url = Url::parse(&format!("http://127.0.0.1:{}/page.html", server.port)).unwrap();
    let host = format!("127.0.0.1:{}", server.port);
    // For the bare client.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let bare = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = async || {
        bare.get(url.clone())
            .send()
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap()
    };
    let mut catalog = Catalog::new();
    tools_web::register(&mut catalog).unwrap();
    let client = HttpClient::from_options(HttpOptions {
        private_hosts: vec![&host.into()],
        ..HttpOptions::default()
    })
    .unwrap();
    let grant = Grant::parse([&*format!("net:read:{host}")]).unwrap();
    let cx = Host::new().with_grant(grant).with_service(client);
    let fetch = async || {
        catalog
            .execute(&cx, "web.fetch", json!({"url": url.as_str()}))
            .await
            .unwrap()
    };
    let [mut client, mut converter, mut both, mut tool]: [Figures; 4] = Default::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        // Opens the connections and builds the definition.
        let body = request().await;
        fetch().await;
        for _ in 0..ROUNDS {
            client.round(request()).await;
            converter.round(async { convert(&body, &url) }).await;
            both.round(async { convert(&request().await, &url) }).await;
            tool.round(fetch()).await;
        }
    });
    println!(
        "| `web.fetch` of a page of {} bytes, medians of {ROUNDS} rounds | µs | peak of the heap in KB |",
        page().len()
    );
    println!("| --- | --: | --: |");
    let names = [
        "the bare client: reqwest, the whole body",
        "the bare converter",
        "both, one after the other",
        "`web.fetch`",
    ];
    let medians = [client, converter, both, tool].map(Figures::medians);
    for (name, (micros, bytes)) in names.iter().zip(medians) {
        println!("| {name} | {micros:.0} | {:.0} |", bytes / 1e3);
    }
    let [.., (direct, _), (tool, _)] = medians;
    println!("| `web.fetch`, both = 1 | {:.2} | |", tool / direct);
}

/// Converts the page to Markdown as `web.fetch` does.
fn convert(body: &[u8], url: &Url) -> Document {
    let source = Source {
        bytes: body,
        media_type: Some("text/html"),
        charset: Some("utf-8"),
        url,
    };
    Document::from_source(source, Format::Markdown, false).unwrap()
}

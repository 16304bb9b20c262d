//! The server for requests from outside.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tools::CancellationToken;
use tools_http::StatusCode;
use tools_http::server::{Server, ServerAnswer, ServerOptions};

const REQUEST: &[u8] =
    b"POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

#[tokio::test]
async fn a_client_that_does_not_read_its_answer_does_not_keep_its_place() {
    let mut options = ServerOptions::default();
    (options.max_connections, options.write_timeout) = (1, Duration::from_millis(200));
    let server = Server::bind("127.0.0.1:0".parse().unwrap(), options)
        .await
        .unwrap();
    let (address, shutdown) = (server.address(), CancellationToken::new());
    // More than the system keeps for a connection.
    let answer = |_| async { ServerAnswer::new(StatusCode::OK, vec![b'x'; 32 * 1024 * 1024]) };
    let _stop = shutdown.clone().drop_guard();
    tokio::spawn(server.serve(answer, shutdown));

    let mut silent = TcpStream::connect(address).await.unwrap();
    silent.write_all(REQUEST).await.unwrap();
    let mut other = TcpStream::connect(address).await.unwrap();
    other.write_all(REQUEST).await.unwrap();
    let mut first = [0; 15];
    other.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    drop(silent);
}

#[tokio::test]
async fn silent_connections_keep_nobody_out() {
    let mut options = ServerOptions::default();
    (options.max_connections, options.read_timeout) = (4, Duration::from_secs(60));
    let server = Server::bind("127.0.0.1:0".parse().unwrap(), options)
        .await
        .unwrap();
    let (address, shutdown) = (server.address(), CancellationToken::new());
    let _stop = shutdown.clone().drop_guard();
    tokio::spawn(server.serve(
        |_| async { ServerAnswer::new(StatusCode::OK, "") },
        shutdown,
    ));
    let mut silent = Vec::new();
    for number in 0..100 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // Nothing, or a request without its body.
        let sent: &[u8] = match number % 2 {
            0 => b"",
            _ => b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n",
        };
        let _ = stream.write_all(sent).await;
        silent.push(stream);
    }
    let answered = async {
        let mut other = TcpStream::connect(address).await.unwrap();
        other.write_all(REQUEST).await.unwrap();
        let mut first = [0; 15];
        other.read_exact(&mut first).await.unwrap();
        first
    };
    assert_eq!(
        &tokio::time::timeout(Duration::from_secs(1), answered)
            .await
            .unwrap(),
        b"HTTP/1.1 200 OK"
    );
}

#[tokio::test]
async fn a_request_for_another_port_is_refused() {
    let mut options = ServerOptions::default();
    options.hosts = vec!["hook.example:8443".to_owned()];
    let server = Server::bind("127.0.0.1:0".parse().unwrap(), options)
        .await
        .unwrap();
    let (address, shutdown) = (server.address(), CancellationToken::new());
    let _stop = shutdown.clone().drop_guard();
    tokio::spawn(server.serve(
        |_| async { ServerAnswer::new(StatusCode::OK, "") },
        shutdown,
    ));
    for (host, expected) in [
        (address.to_string(), "200"),
        ("localhost".to_owned(), "200"),
        ("hook.example:8443".to_owned(), "200"),
        ("localhost:1".to_owned(), "403"),
        ("[::1]:80".to_owned(), "403"),
        ("hook.example:1".to_owned(), "403"),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream
            .write_all(format!("GET / HTTP/1.1\r\nhost: {host}\r\n\r\n").as_bytes())
            .await
            .unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first[9..], expected.as_bytes(), "{host}");
    }
}

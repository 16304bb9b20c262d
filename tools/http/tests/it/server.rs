//! The server for requests from outside.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tools::CancellationToken;
use tools_http::StatusCode;
use tools_http::server::{Server, ServerAnswer, ServerOptions};

const REQUEST: &[u8] = b"POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

#[tokio::test]
async fn a_client_that_does_not_read_its_answer_does_not_keep_its_place() {
    let mut options = ServerOptions::default();
    (options.max_connections, options.write_timeout) = (1, Duration::from_millis(200));
    let server = Server::bind("127.0.0.1:0".parse().unwrap(), options).await.unwrap();
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

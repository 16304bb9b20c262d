//! A small SMTP server.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use data_encoding::BASE64;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// The behaviour of a server that does more than take mails.
#[derive(Clone, Default)]
pub(crate) struct Behaviour {
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) starttls: Option<TlsAcceptor>,
    /// The user and the password of a login that is required.
    pub(crate) login: Option<(&'static str, &'static str)>,
    /// The place at which the connection ends.
    pub(crate) ends_at: Option<&'static str>,
    /// A place, and the reply there.
    pub(crate) refuses: Option<(&'static str, &'static str)>,
    /// Told when the server has taken a mail, which it then does not answer.
    pub(crate) holds_content: Option<Arc<Notify>>,
    /// Sent together with the reply to STARTTLS.
    pub(crate) injected: &'static str,
}

/// A mail as the server took it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mail {
    pub(crate) from: String,
    pub(crate) to: Vec<String>,
    /// The content without the dots of SMTP.
    pub(crate) content: String,
    pub(crate) is_encrypted: bool,
}

#[derive(Default)]
struct Log {
    mails: Vec<Mail>,
    sessions: usize,
    lines: Vec<String>,
    refusals: usize,
}

/// An SMTP server on loopback. Dropping it stops it.
pub(crate) struct SmtpServer {
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<Log>>,
    task: JoinHandle<()>,
}

impl SmtpServer {
    pub(crate) async fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, log) = (listener.local_addr().unwrap(), Arc::<Mutex<Log>>::default());
        let of_task = log.clone();
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                of_task.lock().unwrap().sessions += 1;
                let (behaviour, log) = (behaviour.clone(), of_task.clone());
                // An error is the end of the connection.
                tokio::spawn(async move { drop(session(Box::new(stream), behaviour, log).await) });
            }
        });
        Self { address, log, task }
    }

    pub(crate) fn mails(&self) -> Vec<Mail> {
        self.log.lock().unwrap().mails.clone()
    }

    pub(crate) fn sessions(&self) -> usize {
        self.log.lock().unwrap().sessions
    }

    /// Returns the number of refusals that were sent whole.
    pub(crate) fn refusals(&self) -> usize {
        self.log.lock().unwrap().refusals
    }

    /// Returns the commands of all sessions.
    pub(crate) fn commands(&self) -> Vec<String> {
        self.log.lock().unwrap().lines.clone()
    }
}

impl Drop for SmtpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

type Wire = Box<dyn Stream>;

async fn session(mut wire: Wire, behaviour: Behaviour, log: Arc<Mutex<Log>>) -> io::Result<()> {
    let mut mail = Mail::default();
    if let Some(tls) = &behaviour.tls {
        wire = Box::new(tls.accept(wire).await?);
        mail.is_encrypted = true;
    }
    if behaviour.ends_at == Some("greeting") {
        return Ok(());
    }
    say(&mut wire, "220 mail.example ready").await?;
    let mut is_known = behaviour.login.is_none();
    loop {
        let line = line(&mut wire).await?;
        let command = line
            .split([' ', ':'])
            .next()
            .unwrap_or_default()
            .to_ascii_uppercase();
        log.lock().unwrap().lines.push(line.clone());
        if behaviour.ends_at == Some(&*command) {
            return Ok(());
        }
        if let Some((_, reply)) = behaviour.refuses.filter(|(place, _)| *place == command) {
            say(&mut wire, reply).await?;
            log.lock().unwrap().refusals += 1;
            continue;
        }
        match &*command {
            "EHLO" => {
                let mut extensions = vec!["mail.example"];
                extensions.extend(
                    behaviour
                        .starttls
                        .is_some()
                        .then_some("STARTTLS")
                        .filter(|_| !mail.is_encrypted),
                );
                extensions.extend(behaviour.login.map(|_| "AUTH PLAIN LOGIN"));
                let last = extensions.len() - 1;
                for (index, extension) in extensions.into_iter().enumerate() {
                    say(
                        &mut wire,
                        &format!("250{}{extension}", if index < last { '-' } else { ' ' }),
                    )
                    .await?;
                }
            }
            "STARTTLS" => {
                wire.write_all(format!("220 go on\r\n{}", behaviour.injected).as_bytes())
                    .await?;
                wire.flush().await?;
                let tls = behaviour.starttls.as_ref().unwrap();
                wire = Box::new(tls.accept(wire).await?);
                mail.is_encrypted = true;
            }
            "AUTH" => {
                let (user, password) = behaviour.login.unwrap();
                let expected = BASE64.encode(format!("\0{user}\0{password}").as_bytes());
                is_known = line == format!("AUTH PLAIN {expected}");
                say(
                    &mut wire,
                    if is_known {
                        "235 welcome"
                    } else {
                        "535 5.7.8 unknown: correct-horse-battery"
                    },
                )
                .await?;
            }
            "MAIL" if !is_known => say(&mut wire, "530 log in first").await?,
            "MAIL" => {
                mail.from = line;
                say(&mut wire, "250 ok").await?;
            }
            "RCPT" => {
                mail.to.push(line);
                say(&mut wire, "250 ok").await?;
            }
            "DATA" => {
                say(&mut wire, "354 go on").await?;
                if behaviour.ends_at == Some("content") {
                    wire.read_u8().await?;
                    return Ok(());
                }
                mail.content = content(&mut wire).await?;
                if let Some((_, reply)) = behaviour.refuses.filter(|(place, _)| *place == "end") {
                    say(&mut wire, reply).await?;
                    continue;
                }
                log.lock().unwrap().mails.push(mail.clone());
                if let Some(held) = &behaviour.holds_content {
                    held.notify_one();
                    return std::future::pending().await;
                }
                match behaviour.ends_at {
                    Some("end") => return Ok(()),
                    Some("half a reply") => return wire.write_all(b"250 o").await,
                    _ => say(&mut wire, "250 taken").await?,
                }
            }
            "QUIT" => return say(&mut wire, "221 bye").await,
            _ => say(&mut wire, "500 unknown").await?,
        }
    }
}

async fn content(wire: &mut Wire) -> io::Result<String> {
    let mut content = String::new();
    loop {
        let line = line(wire).await?;
        match line.strip_prefix('.') {
            Some("") => return Ok(content),
            Some(rest) => content += rest,
            None => content += &line,
        }
        content += "\r\n";
    }
}

async fn line(wire: &mut Wire) -> io::Result<String> {
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        line.push(wire.read_u8().await?);
    }
    line.truncate(line.len() - 2);
    Ok(String::from_utf8_lossy(&line).into_owned())
}

async fn say(wire: &mut Wire, text: &str) -> io::Result<()> {
    wire.write_all(format!("{text}\r\n").as_bytes()).await?;
    wire.flush().await
}

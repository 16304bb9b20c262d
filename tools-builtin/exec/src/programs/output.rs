//! [`Output`]: the output of a background program until it is read.

use tokio::sync::watch;

use super::screen::Screen;
use crate::supervise::{Collect, Recent, Ring};

/// The unread bytes of each stream that are kept.
pub(super) const KEPT: usize = 256 * 1024;

/// One output stream of a program.
pub(super) struct Output {
    text: Text,
    is_unread: bool,
    /// Changes when bytes come.
    news: watch::Sender<()>,
}

enum Text {
    Pipe(Ring),
    Terminal(Box<Screen>),
}

impl Output {
    pub(super) fn from_pipe(news: &watch::Sender<()>) -> Self {
        Self {
            text: Text::Pipe(Ring::new(KEPT)),
            is_unread: false,
            news: news.clone(),
        }
    }

    pub(super) fn from_terminal(news: &watch::Sender<()>) -> Self {
        Self {
            text: Text::Terminal(Box::new(Screen::new(KEPT))),
            is_unread: false,
            news: news.clone(),
        }
    }

    /// Returns true if bytes came since the last read.
    pub(super) fn is_unread(&self) -> bool {
        self.is_unread
    }

    /// Takes the text since the last read.
    pub(super) fn read(&mut self) -> Recent {
        self.is_unread = false;
        match &mut self.text {
            Text::Pipe(ring) => ring.read(),
            Text::Terminal(screen) => screen.read(),
        }
    }
}

impl Collect for Output {
    fn push(&mut self, bytes: &[u8]) {
        match &mut self.text {
            Text::Pipe(ring) => ring.push(bytes),
            Text::Terminal(screen) => screen.push(bytes),
        }
        self.is_unread = true;
        self.news.send_replace(());
    }

    fn finish(&mut self) {
        match &mut self.text {
            Text::Pipe(ring) => ring.finish(),
            Text::Terminal(screen) => screen.finish(),
        }
    }
}

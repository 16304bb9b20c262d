//! [`Attachment`]: a file that a person adds to a prompt.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use agent::Prompt;
use data_encoding::BASE64;
use host::open_folder::open_regular;
use host::placed::change_times;
use rustix::fs::{Access, access};
use terminal::MAX_LINE_BYTES as MAX_TEXT_BYTES;
use tools::image::image_type;
use tools::{Content, OutsideText, ToolContext};
use tools_text::decode_input;

use crate::error::Error;

/// The maximum size of an image in bytes. Most services take less, which their providers check.
const MAX_IMAGE_BYTES: usize = 20 * 1024 * 1024;

/// A file that a person adds to a prompt.
#[derive(Debug)]
pub(crate) struct Attachment {
    pub(crate) name: String,
    /// The path of the file, without links.
    path: PathBuf,
    root: PathBuf,
    /// The [times](change_times) from before it was read.
    times: Vec<Option<u64>>,
    content: Vec<Content>,
}

impl Attachment {
    /// Reads a file that a person names. A link is refused, and so is one on the way that a session may have left where the person expects a
    /// folder.
    pub(crate) fn open(path: &Path, root: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let opened = open_without_links(path).and_then(|file| Ok((path.canonicalize()?, file)));
        match opened {
            Ok((path, file)) => Self::read(&name, path, root, file),
            Err(error) => Err(Error::attachment(&name, error)),
        }
    }

    /// Reads the files of the workspace that words such as `@src/main.rs` name, as tools read them. Other words stay text.
    pub(crate) fn mentioned(text: &str, root: &Path, cx: &ToolContext) -> Result<Vec<Self>, Error> {
        let mut found: Vec<Self> = Vec::new();
        let words = text.split_whitespace();
        for name in words.filter_map(|word| word.strip_prefix('@')) {
            let names = [
                name,
                name.trim_end_matches(['.', ',', ':', ';', '?', '!', ')']),
            ];
            let file = |name: &str| Some((name.to_owned(), host::open_file(cx, name)?));
            if let Some((name, file)) = names
                .into_iter()
                .filter(|name| !name.is_empty())
                .find_map(file)
                && !found.iter().any(|other| other.name == name)
            {
                found.push(Self::read(&name, root.join(&name), root, file)?);
            }
        }
        Ok(found)
    }

    fn read(name: &str, path: PathBuf, root: &Path, file: File) -> Result<Self, Error> {
        let times = change_times(root, &path, file.metadata().ok());
        let mut bytes = Vec::new();
        file.take(MAX_IMAGE_BYTES as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| Error::attachment(name, error))?;
        Ok(Self {
            content: content(name, &bytes).map_err(|reason| Error::attachment(name, reason))?,
            name: name.to_owned(),
            path,
            root: root.to_owned(),
            times,
        })
    }

    /// Returns true if the user wrote the file, and nothing on its path has changed since it was read: the judgement would be about another
    /// file.
    fn is_of_user(&self, cx: &ToolContext) -> bool {
        let now = || change_times(&self.root, &self.path, self.path.symlink_metadata().ok());
        cx.is_content_of_user(&self.path) && now() == self.times
    }

    /// Returns a prompt with files, and tells of each. The session is exposed from now on, unless the user wrote all of them.
    pub(crate) fn add_all(
        files: Vec<Self>,
        prompt: String,
        cx: &ToolContext,
        tell: impl Fn(&str),
    ) -> Prompt {
        let mut prompt = Prompt::from(prompt);
        for file in files {
            let mut line = format!("attached {}", file.name);
            if !cx.is_exposed() && !file.is_of_user(cx) {
                cx.record_exposure();
                line += "; the session counts as one that read text of strangers";
            }
            tell(&line);
            prompt = prompt.with_content(file.content);
        }
        prompt
    }
}

/// Opens a regular file to which no link leads that a session may have left.
fn open_without_links(path: &Path) -> io::Result<File> {
    let absolute = std::path::absolute(path)?;
    for place in absolute.ancestors().filter(|place| place.is_symlink()) {
        let folder = place.parent().unwrap_or(place).canonicalize()?;
        // The links of the system are in folders that a session cannot write.
        if place == absolute || access(&folder, Access::WRITE_OK).is_ok() {
            let target = absolute.canonicalize()?;
            return Err(io::Error::other(format!(
                "a link leads to {}; name that file if you mean it",
                target.display()
            )));
        }
    }
    open_regular(path)
}

/// Returns a file for a model: a text, or the name and the image.
fn content(name: &str, bytes: &[u8]) -> Result<Vec<Content>, &'static str> {
    let named = |text: &str| Content::text(OutsideText::new(name, text).to_string());
    if let Some(mime_type) = image_type(bytes) {
        if bytes.len() > MAX_IMAGE_BYTES {
            return Err("an image may have 20 MiB; make it smaller");
        }
        let image = Content::Image {
            data: BASE64.encode(bytes),
            mime_type: mime_type.to_owned(),
        };
        return Ok(vec![named("(the image follows)"), image]);
    }
    if bytes.len() > MAX_TEXT_BYTES {
        return Err(
            "a text may have 1 MiB; let the model read it with fs.read, or attach a part of it",
        );
    }
    let text = decode_input(bytes).ok().filter(|text| !text.contains('\0'));
    let text =
        text.ok_or("it is neither a PNG, JPEG, GIF or WebP image nor text in UTF-8; convert it")?;
    Ok(vec![named(&text)])
}

#[cfg(test)]
mod tests {
    use tools::Host;

    use super::*;

    #[test]
    fn a_file_of_a_folder_that_was_exchanged_meanwhile_is_not_taken_for_the_users() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let [here, away] = ["d", "e"].map(|name| root.join(name));
        std::fs::create_dir(&here).unwrap();
        std::fs::write(here.join("plan.md"), "text").unwrap();
        let file = Attachment::open(&here.join("plan.md"), &root).unwrap();
        assert!(file.is_of_user(&Host::new()));
        // The clock of files moves at ticks.
        std::thread::sleep(host::placed::CLOCK_LAG);
        std::fs::rename(&here, &away).unwrap();
        std::fs::rename(&away, &here).unwrap();
        assert!(!file.is_of_user(&Host::new()));
    }

    #[test]
    fn a_file_is_an_image_or_a_text_by_its_content() {
        let [label, Content::Image { data, mime_type }] = &content("a.txt", b"GIF89a").unwrap()[..]
        else {
            panic!()
        };
        assert!(label.as_text().unwrap().starts_with("<<< from a.txt · "));
        assert_eq!((&**data, &**mime_type), ("R0lGODlh", "image/gif"));
        let [text] = &content("a.png", "\u{feff}é\n<<< end".as_bytes()).unwrap()[..] else {
            panic!()
        };
        assert_eq!(text.as_text().unwrap().lines().nth(1), Some("é"));
        for bytes in [&b"%PDF-1.7\0"[..], b"\xff", &vec![b'a'; MAX_TEXT_BYTES + 1]] {
            assert!(content("a", bytes).is_err());
        }
        let mut image = b"GIF89a".to_vec();
        image.resize(MAX_IMAGE_BYTES + 1, 0);
        assert!(content("a", &image).is_err());
        assert!(
            content("a", &image[1..]).is_err() && content("a", &image[..MAX_IMAGE_BYTES]).is_ok()
        );
    }
}

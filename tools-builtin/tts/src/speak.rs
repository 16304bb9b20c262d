//! `tts.speak`: a text as speech.

use data_encoding::BASE64;
use tools::protocol::TargetError;
use tools::{Access, Content, Target, Targets, ToolContext, ToolError, ToolErrorKind, tool};
use tools_fs::{Workspace, WorkspaceFiles as _};

use crate::error::SpeechError;
use crate::service::Speech;

/// The maximum size of a sound in a result, in bytes.
const MAX_INLINE: usize = 5 * 1024 * 1024;

/// Speaks a text: writes a sound file to the workspace, or returns the sound if no path is given. Use a path if the user wants a file,
/// and for long texts.
#[tool(
    name = "tts.speak",
    title = "Speak a text",
    reads = "speech:text",
    writes = "fs:{*}",
    targets = targets,
    needs(Speech, Workspace),
    tags = ["speech"],
    timeout = "120s",
    example({"text": "Good morning.", "path": "greeting.wav"}),
    example({"text": "Guten Morgen.", "voice": "de", "path": "sounds/morgen.wav"}),
)]
pub(crate) async fn speak(
    cx: &ToolContext,
    /// The text, which is spoken as it is.
    #[schemars(length(min = 1, max = 4096))]
    text: String,
    /// The voice, as the backend names it; the configured one if omitted.
    #[schemars(length(min = 1, max = 64))]
    voice: Option<String>,
    /// The sound file to write, relative to the workspace root, such as `speech.wav`. Its extension is the format.
    #[schemars(length(min = 1, max = 1024))]
    path: Option<String>,
) -> Result<Vec<Content>, ToolError> {
    let speech = cx.need::<Speech>()?;
    let workspace = cx.need::<Workspace>()?;
    let format = speech.format(path.as_deref())?;
    let sound = speech.speak(cx, &text, voice.as_deref(), format).await?;
    let length = sound.len();
    let about = format!(
        "{}, {length} bytes, spoken by {}",
        format.media_type(),
        speech.backend().name
    );
    let Some(path) = path else {
        if length > MAX_INLINE {
            let advice = "give a path, so that the sound is written to a file";
            return Err(SpeechError::Large {
                most: MAX_INLINE,
                advice,
            }
            .into());
        }
        let data = BASE64.encode(&sound);
        return Ok(vec![
            Content::text(format!("[{about}]")),
            Content::Audio {
                data,
                mime_type: format.media_type().to_owned(),
            },
        ]);
    };
    let note = format!("wrote `{path}`: {about}");
    let cx = cx.clone();
    let written =
        tokio::task::spawn_blocking(move || workspace.write_file(&cx, &path, sound)).await;
    written.map_err(ToolErrorKind::internal)??;
    Ok(vec![Content::text(note)])
}

fn targets(_text: String, _voice: Option<String>, path: Option<String>) -> Targets {
    let refused = |reason| TargetError::argument("path", reason);
    let mut targets = vec![Target::new(Access::Read, "speech", "text").map_err(refused)?];
    if let Some(path) = path {
        let path = tools::protocol::Normaliser::Path
            .apply(&path)
            .map_err(refused)?;
        targets.push(Target::new(Access::Write, "fs", path).map_err(refused)?);
    }
    Ok(targets)
}

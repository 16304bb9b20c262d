//! The text of PDFs.

use std::fmt::Write;
use std::io::Write as _;

use data_encoding::HEXUPPER;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::json;
use tools::ErrorCode;
use tools_web::{Document, DocumentError, Format, Source};

use crate::fetch::{serve, texts};
use crate::stop::convert_until;

/// Returns a document with these objects, of which the first is the catalog.
fn pdf(objects: &[String]) -> Vec<u8> {
    let mut pdf = "%PDF-1.4\n".to_owned();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (index, object) in objects.iter().enumerate() {
        writeln!(table, "{:010} 00000 n ", pdf.len()).unwrap();
        write!(pdf, "{} 0 obj\n{object}\nendobj\n", index + 1).unwrap();
    }
    let start = pdf.len();
    let size = objects.len() + 1;
    write!(
        pdf,
        "{table}trailer\n<< /Size {size} /Root 1 0 R /Info 3 0 R >>\nstartxref\n{start}\n%%EOF\n"
    )
    .unwrap();
    pdf.into_bytes()
}

fn stream(dictionary: &str, content: &str) -> String {
    format!(
        "<< {dictionary} /Length {} >>\nstream\n{content}\nendstream",
        content.len()
    )
}

/// Returns the stream of a content, compressed.
fn compressed(content: &[u8]) -> String {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    stream(
        "/Filter [/ASCIIHexDecode /FlateDecode]",
        &(HEXUPPER.encode(&encoder.finish().unwrap()) + ">"),
    )
}

/// Returns a document with these pages, and a form `X` that contains itself.
fn pages(contents: &[&str]) -> Vec<u8> {
    pages_of(
        &contents
            .iter()
            .map(|content| stream("", content))
            .collect::<Vec<_>>(),
    )
}

fn pages_of(contents: &[String]) -> Vec<u8> {
    let count = contents.len();
    let kids: String = (0..count)
        .map(|page| format!("{} 0 R ", 6 + 2 * page))
        .collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!(
            "<< /Type /Pages /Kids [{kids}] /Count {count} /MediaBox [0 0 612 792] \
             /Resources << /Font << /F1 4 0 R >> /XObject << /X 5 0 R >> >> >>"
        ),
        "<< /Title (A \\(short\\) report) >>".to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_owned(),
        stream(
            "/Type /XObject /Subtype /Form /BBox [0 0 9 9]",
            "BT /F1 9 Tf 90 90 Td (In a form.) Tj ET /X Do",
        ),
    ];
    for (page, content) in contents.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /Contents {} 0 R >>",
            7 + 2 * page
        ));
        objects.push(content.clone());
    }
    pdf(&objects)
}

const FIRST: &str =
    "BT /F1 12 Tf 72 720 Td (Caf\\351 prices) Tj 0 -14 Td [(Two) -300 (words)] TJ ET";

fn read(bytes: &[u8]) -> Result<(Option<String>, String, Vec<String>), DocumentError> {
    let url = "https://example.org/a.pdf".parse().unwrap();
    let source = Source {
        bytes,
        media_type: Some("application/pdf"),
        charset: None,
        url: &url,
    };
    match Document::from_source(source, Format::Markdown, false)? {
        Document::Text { title, text, notes } => Ok((title, text, notes)),
        document => panic!("{document:?}"),
    }
}

#[tokio::test]
async fn the_pages_of_a_pdf_are_text_with_a_mark_between_them() {
    let server = serve(
        "application/pdf",
        pages(&[FIRST, "BT /F1 12 Tf 72 720 Td (The end.) Tj ET"]),
    )
    .await;
    let texts = texts(&server, json!({})).await.unwrap();
    let lines: Vec<&str> = texts[0].lines().collect();
    assert_eq!(
        lines[1..lines.len() - 1],
        [
            "Title: A (short) report",
            "",
            "Café prices",
            "Two words",
            "",
            "[page 2]",
            "",
            "The end."
        ]
    );
    assert!(
        texts[1].contains("application/pdf") && texts[1].contains("2 pages"),
        "{}",
        texts[1]
    );
}

#[test]
fn a_form_that_contains_itself_is_read_to_a_limit() {
    let (_, text, _) = read(&pages(&["/X Do"])).unwrap();
    assert!(
        (2..20).contains(&text.matches("In a form.").count()),
        "{text}"
    );
}

#[test]
fn a_page_that_cannot_be_read_leaves_the_others() {
    let huge = "0 0 m\n".repeat(1_000_000);
    let (_, text, notes) = read(&pages(&[FIRST, &huge])).unwrap();
    assert!(
        text.starts_with("Café") && notes.iter().any(|note| note.ends_with("too large: 2")),
        "{notes:?}"
    );
}

#[test]
fn a_stream_that_is_a_bomb_is_not_unpacked() {
    let bomb = compressed(&vec![b' '; 200_000_000]);
    assert!(bomb.len() < 1_000_000);
    let bombs: Vec<String> = std::iter::once(compressed(FIRST.as_bytes()))
        .chain(vec![bomb; 8])
        .collect();
    let (_, text, notes) = read(&pages_of(&bombs)).unwrap();
    assert!(text.starts_with("Café prices\nTwo words"), "{text}");
    assert!(
        notes
            .iter()
            .any(|note| note.ends_with("too large: 2, 3, 4, 5, 6, 7, 8, 9")),
        "{notes:?}"
    );
    let (_, _, notes) = read(&pages_of(&[bombs.clone(), bombs].concat())).unwrap();
    assert!(notes.iter().any(|note| note.contains("cut")), "{notes:?}");
}

#[test]
fn a_pdf_without_text_says_why() {
    for (content, words) in [
        ("0 0 m 9 9 l S", "no text"),
        ("BT /F2 9 Tf (a) Tj ET", "fonts"),
        (&"0 0 m\n".repeat(1_000_000), "too large"),
    ] {
        let error = read(&pages(&[content])).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn nested_objects_and_strange_operands_are_no_panic_of_the_process() {
    for content in [
        "[".repeat(100_000),
        "(".repeat(100_000),
        "Tj TJ Td Tf q Q Do ' \" BI ID EI".to_owned(),
    ] {
        read(&pages(&[&content])).unwrap_err();
        read(&pdf(&[format!(
            "<< /Type /Catalog /Pages 2 0 R /X {content} >>"
        )]))
        .unwrap_err();
    }
}

#[test]
fn a_stopped_pdf_ends_between_pages_forms_and_operations_and_says_so() {
    let line = "BT /F1 12 Tf 72 720 Td (A line.) Tj ET\n";
    for (part, pdf) in [
        ("pages", pages(&[line; 300])),
        (
            "forms",
            pages(&[&format!("{line}{}", "/X Do\n".repeat(300))]),
        ),
        ("operations", pages(&[&line.repeat(1_000)])),
    ] {
        let (whole, notes, _) = convert_until(usize::MAX, "application/pdf", &pdf);
        assert!(
            whole > 2_000 && notes.len() == 1,
            "{part}: {whole} {notes:?}"
        );
        let (length, notes, asked) = convert_until(3, "application/pdf", &pdf);
        assert!(length > 6 && length < 1_500, "{part}: {length}");
        assert!(
            notes.iter().any(|note| note.contains("took too long")),
            "{part}: {notes:?}"
        );
        assert_eq!(asked, 3, "{part}");
    }
}

#[test]
fn a_pdf_that_is_stopped_before_its_text_says_so() {
    let url = "https://example.org/a.pdf".parse().unwrap();
    let source = Source {
        bytes: &pages(&[FIRST]),
        media_type: Some("application/pdf"),
        charset: None,
        url: &url,
    };
    let error = Document::from_source_until(source, Format::Markdown, false, &|| true).unwrap_err();
    assert!(error.to_string().contains("took too long"), "{error}");
}

#[tokio::test]
async fn a_broken_pdf_is_an_error_that_names_the_next_step() {
    let server = serve("application/pdf", "%PDF-1.7\nnothing").await;
    let error = texts(&server, json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ExecutionFailed);
    assert!(
        error.to_string().contains("damaged") && error.to_string().contains("HTML"),
        "{error}"
    );
}

#[test]
fn a_pdf_that_ends_anywhere_is_text_or_an_error() {
    let whole = pages(&[FIRST]);
    let read_texts = (0..whole.len()).filter_map(|end| read(&whole[..end]).ok());
    assert!(
        read_texts
            .filter(|(_, text, _)| !"Café prices\nTwo words".starts_with(text.as_str()))
            .count()
            == 0
    );
    let text = read(&whole).unwrap().1;
    assert_eq!(text, "Café prices\nTwo words");
}

#[test]
fn a_large_pdf_is_refused() {
    let error = read(&[b"%PDF-1.7\n".as_slice(), &[b' '; 11_000_000]].concat()).unwrap_err();
    assert!(error.to_string().contains("at most"), "{error}");
}

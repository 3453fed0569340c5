//! Minimal documents in several file formats, each with one line of text.

use std::fmt::Write as _;

/// A document with this text, in the format of the file extension. Plain text for unknown extensions.
pub(super) fn saying(ending: &str, text: &str) -> Vec<u8> {
    match ending {
        "pdf" => pdf(text),
        "docx" => archive(&docx(text)),
        "xlsx" => archive(&xlsx(text)),
        "json" => serde_json::json!({"text": text}).to_string().into_bytes(),
        "ipynb" => {
            serde_json::json!({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
            {"cell_type": "markdown", "id": "a", "metadata": {}, "source": [text]}]})
            .to_string()
            .into_bytes()
        }
        "py" => format!("TEXT = \"{text}\"\n").into_bytes(),
        _ => format!("{text}\n").into_bytes(),
    }
}

fn pdf(text: &str) -> Vec<u8> {
    let page = format!("BT /F1 12 Tf 20 100 Td ({text}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 200] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{page}\nendstream", page.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut file = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", at + 1);
    }
    let table = file.len();
    let _ = write!(file, "xref\n0 {}\n0000000000 65535 f \n", places.len() + 1);
    for place in &places {
        let _ = writeln!(file, "{place:010} 00000 n ");
    }
    let count = places.len() + 1;
    let _ = write!(file, "trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n");
    file.into_bytes()
}

type Parts = Vec<(&'static str, String)>;

const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
const TYPES: &str = "http://schemas.openxmlformats.org/package/2006/content-types";
const RELATIONS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const KIND: &str = "application/vnd.openxmlformats-officedocument";

/// The common parts of every Office document: the types of its parts, and which is the main one.
fn package(main: &str, kind: &str, more: &str) -> Parts {
    let types = format!(
        "{XML}<Types xmlns=\"{TYPES}\"><Default Extension=\"rels\" \
         ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default \
         Extension=\"xml\" ContentType=\"application/xml\"/><Override PartName=\"/{main}\" \
         ContentType=\"{KIND}.{kind}.main+xml\"/>{more}</Types>"
    );
    let relations = format!(
        "{XML}<Relationships xmlns=\"{RELATIONS}\"><Relationship Id=\"rId1\" \
         Type=\"{OFFICE}/officeDocument\" Target=\"{main}\"/></Relationships>"
    );
    vec![("[Content_Types].xml", types), ("_rels/.rels", relations)]
}

fn docx(text: &str) -> Parts {
    let mut parts = package("word/document.xml", "wordprocessingml.document", "");
    let space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    let document = format!(
        "{XML}<w:document xmlns:w=\"{space}\"><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p>\
         <w:sectPr/></w:body></w:document>"
    );
    parts.push(("word/document.xml", document));
    parts
}

fn xlsx(text: &str) -> Parts {
    let space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let sheet = format!(
        "<Override PartName=\"/xl/worksheets/sheet1.xml\" \
         ContentType=\"{KIND}.spreadsheetml.worksheet+xml\"/>"
    );
    let mut parts = package("xl/workbook.xml", "spreadsheetml.sheet", &sheet);
    let workbook = format!(
        "{XML}<workbook xmlns=\"{space}\" xmlns:r=\"{OFFICE}\"><sheets><sheet name=\"Sheet1\" \
         sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>"
    );
    let relations = format!(
        "{XML}<Relationships xmlns=\"{RELATIONS}\"><Relationship Id=\"rId1\" \
         Type=\"{OFFICE}/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>"
    );
    let cells = format!(
        "{XML}<worksheet xmlns=\"{space}\"><sheetData><row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is>\
         <t>{text}</t></is></c></row></sheetData></worksheet>"
    );
    parts.extend([
        ("xl/workbook.xml", workbook),
        ("xl/_rels/workbook.xml.rels", relations),
        ("xl/worksheets/sheet1.xml", cells),
    ]);
    parts
}

/// A ZIP archive without compression.
fn archive(parts: &[(&'static str, String)]) -> Vec<u8> {
    let mut file: Vec<u8> = Vec::new();
    let mut index: Vec<u8> = Vec::new();
    for (name, text) in parts {
        let at = file.len() as u32;
        let mut head: Vec<u8> = Vec::new();
        // Version, flags, method (stored), time, date of 1980-01-01.
        head.extend([20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0]);
        head.extend(checksum(text.as_bytes()).to_le_bytes());
        head.extend((text.len() as u32).to_le_bytes());
        head.extend((text.len() as u32).to_le_bytes());
        head.extend((name.len() as u16).to_le_bytes());
        head.extend([0, 0]);
        file.extend(b"PK\x03\x04");
        file.extend(&head);
        file.extend(name.as_bytes());
        file.extend(text.as_bytes());
        index.extend(b"PK\x01\x02\x14\x00");
        index.extend(&head);
        // Comment length, disk number, internal and external attributes.
        index.extend([0; 10]);
        index.extend(at.to_le_bytes());
        index.extend(name.as_bytes());
    }
    let at = file.len() as u32;
    file.extend(&index);
    file.extend(b"PK\x05\x06\x00\x00\x00\x00");
    file.extend((parts.len() as u16).to_le_bytes());
    file.extend((parts.len() as u16).to_le_bytes());
    file.extend((index.len() as u32).to_le_bytes());
    file.extend(at.to_le_bytes());
    file.extend([0, 0]);
    file
}

/// The CRC-32 of the ZIP format.
fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ 0xEDB8_8320 } else { sum >> 1 };
        }
    }
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_have_the_checksum_of_their_format() {
        // The check value of this polynomial.
        assert_eq!(checksum(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn every_document_says_its_text() {
        for ending in ["pdf", "docx", "xlsx", "json", "ipynb", "py", "txt", ""] {
            let bytes = saying(ending, "hello-1");
            assert!(bytes.windows(7).any(|part| part == b"hello-1"), "{ending}");
        }
        assert!(saying("xlsx", "x").starts_with(b"PK\x03\x04"));
    }
}

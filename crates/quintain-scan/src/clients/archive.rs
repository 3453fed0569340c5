//! The `manifest.json` of a packed bundle. Of the archive only its directory and this one file are read,
//! both bounded; nothing is unpacked to disk, and names of other entries are of no concern.

use std::io::{Read, Seek, SeekFrom};

use flate2::Crc;
use flate2::read::DeflateDecoder;

/// How an archive begins.
pub const ARCHIVE: &[u8] = b"PK\x03\x04";
/// The file of a bundle that says how its server is started.
pub const MANIFEST: &str = "manifest.json";

/// The record at the end, and the longest remark behind it.
const END: usize = 22;
const MAX_REMARK: u64 = u16::MAX as u64;
/// Names of some hundred thousand files.
const MAX_DIRECTORY: u32 = 32 << 20;
const MAX_MANIFEST: u32 = 4 << 20;
/// Fixed parts of an entry of the directory, and of the head before its content.
const ENTRY: usize = 46;
const HEAD: usize = 30;

/// Why the manifest of an archive cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("{0}")]
    Read(#[from] std::io::Error),
    #[error("the archive is broken: {0}")]
    Broken(&'static str),
    #[error("the archive has no `{MANIFEST}`, so it is not an MCP bundle")]
    Missing,
    #[error("its `{MANIFEST}` is {0}")]
    Unreadable(&'static str),
}

use ArchiveError::{Broken, Missing, Unreadable};

/// The manifest of a bundle.
///
/// # Errors
/// If the archive is incomplete, or its manifest is missing, encrypted, too large or not text.
pub fn manifest(archive: &mut (impl Read + Seek)) -> Result<String, ArchiveError> {
    let directory = directory(archive)?;
    let entry = find(&directory)?;
    archive.seek(SeekFrom::Start(entry.at.into()))?;
    let mut head = [0; HEAD];
    archive.read_exact(&mut head).map_err(|_| Broken("it ends too early"))?;
    if !head.starts_with(ARCHIVE) {
        return Err(Broken("its directory points at nothing"));
    }
    let skipped = i64::from(short(&head, 26)) + i64::from(short(&head, 28));
    archive.seek(SeekFrom::Current(skipped))?;
    let packed = archive.take(entry.packed.into());
    // One byte more than announced shows that the announcement is wrong.
    let most = u64::from(entry.size) + 1;
    let mut bytes = Vec::new();
    let read = match entry.method {
        0 => packed.take(most).read_to_end(&mut bytes),
        8 => DeflateDecoder::new(packed).take(most).read_to_end(&mut bytes),
        _ => return Err(Unreadable("packed in a way that is not understood")),
    };
    read.map_err(|_| Broken("its content cannot be unpacked"))?;
    let mut crc = Crc::new();
    crc.update(&bytes);
    if bytes.len() as u64 != u64::from(entry.size) || crc.sum() != entry.crc {
        return Err(Broken("its content is not what the directory says"));
    }
    String::from_utf8(bytes).map_err(|_| Unreadable("not UTF-8"))
}

/// The directory precedes the record at the end, which contains its length.
fn directory(archive: &mut (impl Read + Seek)) -> Result<Vec<u8>, ArchiveError> {
    let whole = archive.seek(SeekFrom::End(0))?;
    let tail = whole.min(END as u64 + MAX_REMARK);
    archive.seek(SeekFrom::Start(whole - tail))?;
    let mut end = Vec::new();
    archive.take(tail).read_to_end(&mut end)?;
    let mark = b"PK\x05\x06";
    let starts = (0..end.len().saturating_sub(END - 1)).rev();
    let at = starts.into_iter().find(|at| end[*at..].starts_with(mark));
    let end = at.map(|at| &end[at..]).ok_or(Broken("it has no directory"))?;
    let (size, start) = (long(end, 12), long(end, 16));
    if size > MAX_DIRECTORY || u64::from(start) + u64::from(size) > whole {
        return Err(Broken("its directory is longer than can be"));
    }
    archive.seek(SeekFrom::Start(start.into()))?;
    let mut directory = Vec::new();
    archive.take(size.into()).read_to_end(&mut directory)?;
    Ok(directory)
}

/// The place of a file in the archive.
struct Entry {
    method: u16,
    crc: u32,
    packed: u32,
    size: u32,
    at: u32,
}

/// The manifest at the top of an archive; one in a folder belongs to something else.
fn find(mut directory: &[u8]) -> Result<Entry, ArchiveError> {
    while directory.len() >= ENTRY && directory.starts_with(b"PK\x01\x02") {
        let name = usize::from(short(directory, 28));
        let length =
            ENTRY + name + usize::from(short(directory, 30)) + usize::from(short(directory, 32));
        if directory.get(ENTRY..ENTRY + name) == Some(MANIFEST.as_bytes()) {
            let size = long(directory, 24);
            if short(directory, 8) & 1 != 0 {
                return Err(Unreadable("encrypted"));
            }
            if size > MAX_MANIFEST {
                return Err(Unreadable("larger than 4 MiB"));
            }
            return Ok(Entry {
                method: short(directory, 10),
                crc: long(directory, 16),
                packed: long(directory, 20),
                size,
                at: long(directory, 42),
            });
        }
        directory = directory.get(length..).unwrap_or_default();
    }
    Err(Missing)
}

fn short(bytes: &[u8], at: usize) -> u16 {
    let two = bytes.get(at..at + 2).and_then(|two| two.try_into().ok());
    two.map(u16::from_le_bytes).unwrap_or_default()
}

fn long(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map(u32::from_le_bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    use super::*;

    fn two(number: usize) -> [u8; 2] {
        u16::try_from(number).unwrap().to_le_bytes()
    }

    fn four(number: usize) -> [u8; 4] {
        u32::try_from(number).unwrap().to_le_bytes()
    }

    /// An archive of these files, as packers write them.
    fn packed(files: &[(&str, &[u8])], deflate: bool) -> Vec<u8> {
        let (mut archive, mut directory) = (Vec::new(), Vec::new());
        for (name, content) in files {
            let mut crc = Crc::new();
            crc.update(content);
            let mut body = content.to_vec();
            if deflate {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(content).unwrap();
                body = encoder.finish().unwrap();
            }
            let mut common = Vec::new();
            common.extend([20, 0, 0, 0, if deflate { 8 } else { 0 }, 0, 0, 0, 0, 0]);
            common.extend(crc.sum().to_le_bytes());
            common.extend(four(body.len()));
            common.extend(four(content.len()));
            common.extend(two(name.len()));
            common.extend(two(0));
            directory.extend(b"PK\x01\x02\x14\x00");
            directory.extend(&common);
            directory.extend([0; 10]);
            directory.extend(four(archive.len()));
            directory.extend(name.as_bytes());
            archive.extend(ARCHIVE);
            archive.extend(&common);
            archive.extend(name.as_bytes());
            archive.extend(body);
        }
        let start = archive.len();
        archive.extend(&directory);
        archive.extend(b"PK\x05\x06\x00\x00\x00\x00");
        archive.extend(two(files.len()));
        archive.extend(two(files.len()));
        archive.extend(four(directory.len()));
        archive.extend(four(start));
        archive.extend(two(4));
        archive.extend(b"note");
        archive
    }

    fn read(archive: &[u8]) -> Result<String, String> {
        manifest(&mut Cursor::new(archive)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_manifest_at_the_top_is_read_packed_or_not() {
        let files: [(&str, &[u8]); 3] =
            [("server/manifest.json", b"no"), ("../x", b"no"), ("manifest.json", b"{\"a\": 1}")];
        for deflate in [false, true] {
            assert_eq!(read(&packed(&files, deflate)).unwrap(), "{\"a\": 1}");
        }
        assert!(read(&packed(&files[..2], true)).unwrap_err().contains("not an MCP bundle"));
    }

    #[test]
    fn what_is_broken_or_lies_about_its_size_is_refused() {
        let whole = packed(&[("manifest.json", &[b'x'; 5_000])], true);
        assert!(read(&whole).is_ok());
        for at in 0..whole.len() {
            let _ = read(&whole[..at]);
            let mut bent = whole.clone();
            bent[at] ^= 0xff;
            if let Ok(text) = read(&bent) {
                assert_eq!(text, "x".repeat(5_000), "byte {at}");
            }
        }
        let mut lies = whole.clone();
        let entry = whole.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap();
        lies[entry + 24..entry + 28].copy_from_slice(&4_000_u32.to_le_bytes());
        assert!(read(&lies).unwrap_err().contains("not what the directory says"));
        lies[entry + 24..entry + 28].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(read(&lies).unwrap_err().contains("larger than 4 MiB"));
        let mut locked = whole;
        locked[entry + 8] |= 1;
        assert!(read(&locked).unwrap_err().contains("encrypted"));
    }
}

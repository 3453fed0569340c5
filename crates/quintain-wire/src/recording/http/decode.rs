//! Decodes compressed bodies for the capture. What is passed on stays compressed.

use std::io::Write as _;

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// Input is decoded in pieces, so that a small body cannot become a huge text at once.
const PIECE: usize = 4 << 10;

/// Decodes the content of one body, as far as its encoding is known.
pub(super) enum Decoder {
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Zlib(Box<ZlibDecoder<Vec<u8>>>),
    Deflate(Box<DeflateDecoder<Vec<u8>>>),
    /// `deflate` means zlib, but some servers send the bare form; the first byte shows which.
    Undecided,
    /// An encoding that cannot be decoded, or content that is broken.
    Opaque,
}

impl Decoder {
    /// For the value of `Content-Encoding`.
    pub(super) fn new(encoding: Option<&str>) -> Self {
        match encoding.map(str::trim).map(str::to_ascii_lowercase).as_deref() {
            None | Some("" | "identity") => Self::Plain,
            Some("gzip" | "x-gzip") => Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            Some("deflate") => Self::Undecided,
            Some(_) => Self::Opaque,
        }
    }

    pub(super) fn is_opaque(&self) -> bool {
        matches!(self, Self::Opaque)
    }

    /// Decodes a chunk piece by piece.
    pub(super) fn decode(&mut self, chunk: &[u8], mut each: impl FnMut(&[u8])) {
        if let (Self::Undecided, Some(first)) = (&*self, chunk.first()) {
            *self = if first & 0x0f == 8 {
                Self::Zlib(Box::new(ZlibDecoder::new(Vec::new())))
            } else {
                Self::Deflate(Box::new(DeflateDecoder::new(Vec::new())))
            };
        }
        for piece in chunk.chunks(PIECE) {
            let (decoded, output) = match self {
                Self::Plain => {
                    each(piece);
                    continue;
                }
                Self::Gzip(decoder) => {
                    (decoder.write_all(piece).and_then(|()| decoder.flush()), decoder.get_mut())
                }
                Self::Zlib(decoder) => {
                    (decoder.write_all(piece).and_then(|()| decoder.flush()), decoder.get_mut())
                }
                Self::Deflate(decoder) => {
                    (decoder.write_all(piece).and_then(|()| decoder.flush()), decoder.get_mut())
                }
                Self::Undecided | Self::Opaque => return,
            };
            if !output.is_empty() {
                each(output);
                output.clear();
            }
            if decoded.is_err() {
                *self = Self::Opaque;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    fn decoded(encoding: &str, chunks: &[&[u8]]) -> (Vec<u8>, bool) {
        let mut decoder = Decoder::new(Some(encoding));
        let mut text = Vec::new();
        chunks
            .iter()
            .for_each(|chunk| decoder.decode(chunk, |piece| text.extend_from_slice(piece)));
        (text, decoder.is_opaque())
    }

    #[test]
    fn every_common_encoding_is_decoded_chunk_by_chunk() {
        let text = "hello hello hello".repeat(1_000);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        zlib.write_all(text.as_bytes()).unwrap();
        bare.write_all(text.as_bytes()).unwrap();
        for (encoding, bytes) in [
            ("GZIP", gzip.finish().unwrap()),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", bare.finish().unwrap()),
            ("identity", text.clone().into_bytes()),
        ] {
            let chunks: Vec<&[u8]> = bytes.chunks(7).collect();
            assert_eq!(
                decoded(encoding, &chunks),
                (text.clone().into_bytes(), false),
                "{encoding}"
            );
        }
    }

    #[test]
    fn events_are_decoded_as_soon_as_the_server_flushes_them() {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(b"data: 1\n\n").unwrap();
        gzip.flush().unwrap();
        let first = gzip.get_ref().clone();
        assert_eq!(decoded("gzip", &[&first]).0, b"data: 1\n\n");
    }

    #[test]
    fn unknown_encodings_and_broken_content_are_opaque() {
        assert!(decoded("br", &[b"x"]).1);
        assert!(decoded("gzip", &[b"this is not gzip at all"]).1);
    }
}

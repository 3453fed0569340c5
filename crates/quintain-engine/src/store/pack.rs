//! The storage format of JSON values: a codec byte, then the bytes. Small values are not compressed, since it costs
//! more time than it saves space.

use std::io::Read as _;

use flate2::{Compress, Compression, FlushCompress, Status};
use quintain_wire::redact::Masked;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::StoreError;

const PLAIN: u8 = 0;
/// The length before compression (8 bytes, little endian), then a raw deflate stream.
const DEFLATE: u8 = 1;
const HEADER: usize = 9;

/// Minimum size for compression, in bytes.
const MIN_COMPRESSED: usize = 1_024;

/// The content of a binary column: masked data. It is valid before and after [`Packed::shrink`].
#[derive(Default)]
pub(super) struct Packed(Vec<u8>);

impl Packed {
    /// Accepts only masked data, so that no secret gets into the store.
    pub(super) fn json<T: Serialize + Clone>(value: &Masked<'_, T>) -> Result<Self, StoreError> {
        let mut plain = vec![PLAIN];
        serde_json::to_writer(&mut plain, &**value)
            .map_err(|error| StoreError::unreadable("value", error))?;
        Ok(Self(plain))
    }

    /// A value from the store, which is already masked.
    pub(super) fn stored(value: &serde_json::Value) -> Self {
        Self::plain(&value.to_string())
    }

    pub(super) fn text(text: &Masked<'_, str>) -> Self {
        Self::plain(text)
    }

    fn plain(text: &str) -> Self {
        let mut plain = Vec::with_capacity(text.len() + 1);
        plain.push(PLAIN);
        plain.extend_from_slice(text.as_bytes());
        Self(plain)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Compresses it if worthwhile. Slow: call it in the writer's thread, not in the thread of a run.
    pub(super) fn shrink(&mut self, packer: &mut Packer) {
        if let Some(shorter) = packer.shorter(&self.0) {
            self.0 = shorter;
        }
    }
}

/// Compresses values. Reuses the compressor's memory.
pub(super) struct Packer {
    deflate: Compress,
}

impl Packer {
    pub(super) fn new() -> Self {
        // Level 1 is several times faster than the default and saves four fifths as much space.
        Self { deflate: Compress::new(Compression::fast(), false) }
    }

    /// The compressed form of a plain value, if it is smaller.
    fn shorter(&mut self, packed: &[u8]) -> Option<Vec<u8>> {
        let Some((&PLAIN, content)) = packed.split_first() else { return None };
        if content.len() < MIN_COMPRESSED {
            return None;
        }
        self.deflate.reset();
        let mut shorter = Vec::with_capacity(packed.len());
        shorter.push(DEFLATE);
        shorter.extend_from_slice(&(content.len() as u64).to_le_bytes());
        let status = self.deflate.compress_vec(content, &mut shorter, FlushCompress::Finish);
        // The capacity is that of the plain value, so any other status means that it did not get smaller.
        matches!(status, Ok(Status::StreamEnd)).then_some(shorter)
    }
}

pub(super) fn bytes(packed: &[u8]) -> Result<Vec<u8>, String> {
    match packed.first() {
        Some(&PLAIN) => Ok(packed[1..].to_vec()),
        Some(&DEFLATE) => {
            let header = packed.get(1..HEADER).and_then(|length| length.try_into().ok());
            let length = u64::from_le_bytes(header.ok_or("it is truncated")?);
            let mut plain = Vec::new();
            // A damaged length must not make us read more than that.
            let mut stream = flate2::read::DeflateDecoder::new(&packed[HEADER..]).take(length);
            stream.read_to_end(&mut plain).map_err(|error| error.to_string())?;
            if plain.len() as u64 == length { Ok(plain) } else { Err("it is truncated".into()) }
        }
        Some(codec) => Err(format!("its codec {codec} is unknown")),
        None => Err("it is empty".into()),
    }
}

pub(super) fn json<T: DeserializeOwned>(
    what: &'static str,
    packed: &[u8],
) -> Result<T, StoreError> {
    let plain = bytes(packed).map_err(|why| StoreError::unreadable(what, why))?;
    serde_json::from_slice(&plain).map_err(|error| StoreError::unreadable(what, error))
}

pub(super) fn text(what: &'static str, packed: &[u8]) -> Result<String, StoreError> {
    let plain = bytes(packed).map_err(|why| StoreError::unreadable(what, why))?;
    String::from_utf8(plain).map_err(|error| StoreError::unreadable(what, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(text: &str) -> Vec<u8> {
        let mut packed = Packed::plain(text);
        packed.shrink(&mut Packer::new());
        packed.0
    }

    #[test]
    fn small_values_stay_plain_and_large_ones_shrink() {
        for text in ["", "x", &"abc ".repeat(100), &"abc ".repeat(100_000)] {
            let packed = packed(text);
            assert_eq!(super::text("text", &packed).unwrap(), text);
            assert_eq!(packed[0], u8::from(text.len() >= MIN_COMPRESSED));
            assert!(packed.len() <= text.len() + 1);
        }
    }

    #[test]
    fn what_is_compressed_stays_as_it_is() {
        let mut packed = Packed::plain(&"abc ".repeat(1_000));
        let mut packer = Packer::new();
        packed.shrink(&mut packer);
        let once = packed.0.clone();
        packed.shrink(&mut packer);
        assert_eq!(packed.0, once);
    }

    #[test]
    fn what_cannot_shrink_stays_plain() {
        let mut state = 1_u64;
        let noise: String = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from_u32(0x4e00 + (state >> 50) as u32).unwrap_or('x')
        })
        .take(5_000)
        .collect();
        let packed = packed(&noise);
        assert!(packed.len() <= noise.len() + 1);
        assert_eq!(text("text", &packed).unwrap(), noise);
    }

    #[test]
    fn damaged_values_are_errors_and_do_not_exhaust_memory() {
        let good = packed(&"abc ".repeat(1_000));
        let mut huge = good.clone();
        huge[1..HEADER].copy_from_slice(&u64::MAX.to_le_bytes());
        let mut short = good.clone();
        short[1..HEADER].copy_from_slice(&7_u64.to_le_bytes());
        assert_eq!(bytes(&short).unwrap().len(), 7, "no more than announced is read");
        for bad in [&[][..], &[9, 1], &[DEFLATE], &[DEFLATE, 1, 2], &good[..20], &huge] {
            assert!(bytes(bad).is_err());
        }
    }
}

//! Collects the free text of a value in one buffer, so that one search shows whether it contains a secret. Names of
//! fields and variants are constants of this program and are left out.

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Error;

/// Separates two texts. It is not a letter, so words end here.
const END: u8 = 0;
/// Initial capacity: larger than most results, so that the buffer rarely grows.
const ROOM: usize = 4_096;

/// Strings, keys of maps and, if asked for, numbers.
pub(super) fn free_text<T: Serialize>(value: &T, with_numbers: bool) -> Result<Vec<u8>, Error> {
    let mut collector = Collector { text: Vec::with_capacity(ROOM), with_numbers };
    value.serialize(&mut collector)?;
    Ok(collector.text)
}

struct Collector {
    text: Vec<u8>,
    with_numbers: bool,
}

impl Collector {
    fn add(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.text.push(END);
    }
}

/// Numbers as JSON writes them.
macro_rules! numbers {
    ($($method:ident $number:ty)*) => {$(
        fn $method(self, number: $number) -> Result<(), Error> {
            if self.with_numbers {
                serde_json::to_writer(&mut self.text, &number)?;
                self.text.push(END);
            }
            Ok(())
        }
    )*};
}

impl Serializer for &mut Collector {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    numbers!(serialize_i8 i8 serialize_i16 i16 serialize_i32 i32 serialize_i64 i64 serialize_i128 i128
        serialize_u8 u8 serialize_u16 u16 serialize_u32 u32 serialize_u64 u64 serialize_u128 u128
        serialize_f32 f32 serialize_f64 f64);

    fn serialize_bool(self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_char(self, character: char) -> Result<(), Error> {
        self.serialize_str(character.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<(), Error> {
        self.add(text.as_bytes());
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Error> {
        self.add(bytes);
        // JSON represents bytes as numbers.
        bytes.iter().try_for_each(|byte| self.serialize_u8(*byte))
    }

    fn serialize_none(self) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Error> {
        Ok(self)
    }

    fn collect_str<T: std::fmt::Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        use std::io::Write as _;
        write!(self.text, "{value}").map_err(Error::custom)?;
        self.text.push(END);
        Ok(())
    }
}

/// Every compound value is its parts, one after the other.
macro_rules! parts {
    ($($kind:ident { $($method:ident($($name:ident)?)),+ })*) => {$(
        impl $kind for &mut Collector {
            type Ok = ();
            type Error = Error;

            $(fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($name: &'static str,)?
                value: &T,
            ) -> Result<(), Error> {
                $(let _ = $name;)?
                value.serialize(&mut **self)
            })+

            fn end(self) -> Result<(), Error> {
                Ok(())
            }
        }
    )*};
}

parts! {
    SerializeSeq { serialize_element() }
    SerializeTuple { serialize_element() }
    SerializeTupleStruct { serialize_field() }
    SerializeTupleVariant { serialize_field() }
    SerializeMap { serialize_key(), serialize_value() }
    SerializeStruct { serialize_field(name) }
    SerializeStructVariant { serialize_field(name) }
}

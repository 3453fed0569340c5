//! Masks data by its types: reads a value again from its JSON, and masks secrets in strings, keys of maps and numbers of
//! free JSON. Names of variants and fields and measured numbers stay, so that a secret that equals such a word breaks
//! nothing.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::value::StringDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer,
    MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::ser::Serialize;
use serde_json::{Error, Map, Number, Value};

use super::{MASK, Redactor, UNMISTAKABLE};

/// Data that cannot be masked, because its type does not allow a mask.
#[derive(Debug, thiserror::Error)]
#[error("the data contains a secret that cannot be masked")]
pub struct Unmaskable;

impl Unmaskable {
    /// Drops the reason, which may quote the value.
    pub(super) fn of(_: Error) -> Self {
        Self
    }
}

pub(super) fn rebuild<T: Serialize + DeserializeOwned>(
    value: &T,
    redactor: &Redactor,
) -> Result<T, Unmaskable> {
    let read = |keeps_words| {
        let value = serde_json::to_value(value)?;
        T::deserialize(Reader { value, rules: Rules { redactor, keeps_words } })
    };
    // A field of a tagged variant looks like a key of a map. A key such as `path` does not disclose a password of
    // that name.
    read(false).or_else(|_| read(true)).map_err(Unmaskable::of)
}

#[derive(Clone, Copy)]
struct Rules<'a> {
    redactor: &'a Redactor,
    /// Whether to keep keys that are short plain words.
    keeps_words: bool,
}

struct Reader<'a> {
    value: Value,
    rules: Rules<'a>,
}

impl<'a> Reader<'a> {
    fn is_secret(&self, number: &Number) -> bool {
        let text = number.to_string();
        matches!(self.rules.redactor.text(&text), Cow::Owned(_))
    }

    fn map<'de, V: Visitor<'de>>(
        entries: Map<String, Value>,
        fields: &'static [&'static str],
        rules: Rules<'a>,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let rest = entries.into_iter();
        visitor.visit_map(Entries { rest, value: None, fields, seen: BTreeMap::new(), rules })
    }
}

/// Typed numbers, such as times and counts, are ours and not masked.
macro_rules! own_numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.value {
                Value::Number(number) => number.deserialize_any(visitor),
                _ => self.deserialize_any(visitor),
            }
        }
    )*};
}

/// JSON writes NaN as null.
macro_rules! own_fractions {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.value {
                Value::Null => visitor.visit_f64(f64::NAN),
                Value::Number(number) => number.deserialize_any(visitor),
                _ => self.deserialize_any(visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(ref number) if self.is_secret(number) => visitor.visit_str(MASK),
            Value::Number(number) => number.deserialize_any(visitor),
            Value::String(text) => match self.rules.redactor.text(&text) {
                Cow::Owned(masked) => visitor.visit_string(masked),
                Cow::Borrowed(_) => visitor.visit_string(text),
            },
            Value::Array(items) => {
                visitor.visit_seq(Items { items: items.into_iter(), rules: self.rules })
            }
            Value::Object(entries) => Self::map(entries, &[], self.rules, visitor),
        }
    }

    own_numbers!(deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128);
    own_fractions!(deserialize_f32 deserialize_f64);

    /// Error codes are the only typed numbers that a target chooses.
    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Number(ref number) if self.is_secret(number) => visitor.visit_i64(0),
            Value::Number(number) => number.deserialize_any(visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.value {
            Value::Object(entries) => Self::map(entries, fields, self.rules, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let (name, content) = match self.value {
            Value::String(name) => (name, None),
            Value::Object(entries) if entries.len() == 1 => {
                let (name, content) =
                    entries.into_iter().next().ok_or_else(|| Error::custom("no variant"))?;
                (name, Some(content))
            }
            _ => return Err(Error::custom("no variant")),
        };
        if !variants.contains(&name.as_str()) {
            return Err(Error::custom("no such variant"));
        }
        visitor.visit_enum(Variant { name, content, rules: self.rules })
    }

    /// The name of a variant.
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::String(name) => visitor.visit_string(name),
            _ => self.deserialize_any(visitor),
        }
    }

    serde::forward_to_deserialize_any! {
        bool char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map ignored_any
    }
}

struct Items<'a> {
    items: std::vec::IntoIter<Value>,
    rules: Rules<'a>,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        let Some(value) = self.items.next() else { return Ok(None) };
        seed.deserialize(Reader { value, rules: self.rules }).map(Some)
    }
}

struct Entries<'a> {
    rest: serde_json::map::IntoIter,
    value: Option<Value>,
    /// The names of a struct's fields, which are not masked.
    fields: &'static [&'static str],
    /// Number of keys that are equal after masking.
    seen: BTreeMap<String, usize>,
    rules: Rules<'a>,
}

impl Entries<'_> {
    fn shown(&mut self, key: String) -> String {
        let is_word = key.len() < UNMISTAKABLE && key.bytes().all(|byte| byte.is_ascii_lowercase());
        if self.fields.contains(&key.as_str()) || (self.rules.keeps_words && is_word) {
            return key;
        }
        let Cow::Owned(masked) = self.rules.redactor.text(&key) else { return key };
        let count = self.seen.entry(masked.clone()).or_default();
        *count += 1;
        if *count == 1 { masked } else { format!("{masked} ({count})") }
    }
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        let key: StringDeserializer<Error> = self.shown(key).into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let value = self.value.take().unwrap_or_default();
        seed.deserialize(Reader { value, rules: self.rules })
    }
}

struct Variant<'a> {
    name: String,
    content: Option<Value>,
    rules: Rules<'a>,
}

impl<'de, 'a> EnumAccess<'de> for Variant<'a> {
    type Error = Error;
    type Variant = Content<'a>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Content<'a>), Error> {
        let name: StringDeserializer<Error> = self.name.into_deserializer();
        let content = Content { value: self.content, rules: self.rules };
        Ok((seed.deserialize(name)?, content))
    }
}

struct Content<'a> {
    value: Option<Value>,
    rules: Rules<'a>,
}

impl<'a> Content<'a> {
    fn reader(self) -> Reader<'a> {
        Reader { value: self.value.unwrap_or_default(), rules: self.rules }
    }
}

impl<'de> VariantAccess<'de> for Content<'_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(self.reader())
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.reader().deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.reader().deserialize_struct("", fields, visitor)
    }
}

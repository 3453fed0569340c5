//! What a piece of text is.

use super::date::{Day, Minutes};
use super::number::Number;

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Number(Number),
    /// The days that it may mean, one of which is meant.
    Days(Vec<Day>),
    Month(Option<i32>, u8),
    Time(Minutes),
    Url,
    Email,
    Path,
    /// Letters and digits, or a version.
    Id,
    /// The digits of a telephone number.
    Phone(String),
    Word,
}

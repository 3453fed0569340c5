//! Values in texts and JSON, compared as people write them: numbers, days, addresses, paths and ids in any notation, and
//! where in a trace each of them was first known.

pub mod date;
pub mod derived;
pub(crate) mod embedded_json;
pub mod grounds;
pub mod groups;
pub mod keys;
pub(crate) mod kind;
pub mod known;
pub mod leaves;
pub mod literal;
pub(crate) mod number;
mod numeral;
pub mod phone;
pub mod pieces;
pub mod prose;
pub mod shape;
pub mod spaced;
mod spoken;
pub mod token;
pub mod units;
pub mod uses;
pub mod word_list;

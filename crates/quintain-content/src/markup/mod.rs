//! XML and HTML in what a target wrote. Nothing here recurses, and no input takes more than a few
//! passes.

pub mod doctype;
mod dom;
pub mod fragments;
pub mod html;
pub mod names;
pub mod tree;
pub mod well_formed;

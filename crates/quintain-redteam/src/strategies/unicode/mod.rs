//! Lookalikes, marks, invisible characters and other features of Unicode.

pub(super) mod arabic;
pub(super) mod direction;
pub(super) mod invisible;
pub(super) mod lookalikes;
pub(super) mod marks;
pub(super) mod shapes;

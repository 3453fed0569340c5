//! From JavaScript's regular expressions to those that are matched in linear time.

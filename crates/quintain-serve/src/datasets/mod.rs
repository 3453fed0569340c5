//! Data sets: the built-in ones and the import of other formats. Pure: text in, entries out.

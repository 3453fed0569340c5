//! Buffers output that follows totals which are not known yet: in memory while it is small, then in a
//! temporary file.

use std::io::{self, BufRead, BufReader, BufWriter, Seek as _, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::SpooledTempFile;

const IN_MEMORY: usize = 4 << 20;

pub(crate) struct Spool(BufWriter<SpooledTempFile>);

impl Default for Spool {
    fn default() -> Self {
        Self(BufWriter::new(SpooledTempFile::new(IN_MEMORY)))
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Spool {
    /// Stores a record as one line, to be read back by `each`.
    pub(crate) fn record(&mut self, record: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, record)?;
        self.0.write_all(b"\n")
    }

    pub(crate) fn each<T: DeserializeOwned>(
        &mut self,
        mut visit: impl FnMut(T) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut lines = self.reader()?;
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            visit(serde_json::from_slice(&line)?)?;
            line.clear();
        }
        Ok(())
    }

    pub(crate) fn copy_to(&mut self, out: &mut impl Write) -> io::Result<()> {
        io::copy(&mut self.reader()?, out).map(drop)
    }

    fn reader(&mut self) -> io::Result<BufReader<&mut SpooledTempFile>> {
        self.0.flush()?;
        let file = self.0.get_mut();
        file.rewind()?;
        Ok(BufReader::new(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_held_back_comes_out_as_it_went_in() {
        let mut spool = Spool::default();
        for n in 0..3 {
            spool.record(&(n, "a\nb")).unwrap();
        }
        let mut seen = Vec::new();
        let keep = |pair: (u32, String)| {
            seen.push(pair);
            Ok(())
        };
        spool.each(keep).unwrap();
        assert_eq!(seen, [0, 1, 2].map(|n| (n, "a\nb".to_owned())));
        let mut copy = Vec::new();
        spool.copy_to(&mut copy).unwrap();
        assert_eq!(String::from_utf8(copy).unwrap().lines().count(), 3);
    }

    #[test]
    fn much_goes_to_a_file() {
        let mut spool = Spool::default();
        let block = vec![b'x'; 1 << 20];
        (0..6).for_each(|_| spool.write_all(&block).unwrap());
        let mut copy = Vec::new();
        spool.copy_to(&mut copy).unwrap();
        assert_eq!(copy.len(), 6 << 20);
    }
}

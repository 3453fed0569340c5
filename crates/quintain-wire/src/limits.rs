//! Limits on the output of a target.
//!
//! All limits count bytes after decompression, because a target chooses its compression ratio.

/// The limits that a transport enforces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of a line on stdout, an event on a stream, or an HTTP body.
    pub message_bytes: usize,
    /// Maximum size of a line or an event that is skipped instead of ending the connection.
    pub skipped_bytes: usize,
    /// Maximum number of objects, arrays and members in a result that is parsed.
    pub parts: usize,
    /// Maximum size of the recorded stderr; older bytes are dropped.
    pub stderr_bytes: usize,
    /// Maximum number of bytes queued for a target that does not read.
    pub queue_bytes: usize,
    /// Maximum number of pages in a listing.
    pub pages: usize,
    /// Maximum number of notifications kept for one call, and for one connection.
    pub notices: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 32 << 20,
            skipped_bytes: 256 << 20,
            parts: 500_000,
            stderr_bytes: 64 << 10,
            queue_bytes: 32 << 20,
            pages: 1_000,
            notices: 1_000,
        }
    }
}

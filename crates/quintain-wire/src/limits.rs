//! How much of a target's output we are willing to hold.
//!
//! Every cap counts bytes after decompression, because a target chooses its own compression ratio.

/// The caps a transport enforces on what a target sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest line on stdout, longest event on a stream, longest HTTP body.
    pub message_bytes: usize,
    /// How long a line or an event may be in all, to be skipped instead of ending the connection.
    pub skipped_bytes: usize,
    /// Objects, arrays and members of one result that is held as a value.
    pub parts: usize,
    /// How much of a target's stderr is kept; older bytes are dropped.
    pub stderr_bytes: usize,
    /// Bytes queued for a target that does not read.
    pub queue_bytes: usize,
    /// Pages followed by a listing.
    pub pages: usize,
    /// Notifications kept for one call and for one connection.
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

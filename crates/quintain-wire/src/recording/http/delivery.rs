//! Shows when everything that was written to a client's connection has left this process, so that a connection can be cut
//! without losing what came before.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const NOT_ASKED: u8 = 0;
const ASKED: u8 = 1;
const COMPLETE: u8 = 2;

/// Asks whether a connection has written everything; clones ask the same connection.
#[derive(Clone, Default)]
pub(super) struct Delivery(Arc<AtomicU8>);

impl Delivery {
    /// Ready once the connection was flushed after the first call. The task of the connection must call it: the flush
    /// wakes that task.
    pub(super) fn poll_complete(&self) -> Poll<()> {
        let was = self.0.compare_exchange(NOT_ASKED, ASKED, Ordering::AcqRel, Ordering::Acquire);
        if was == Err(COMPLETE) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// A connection that answers [`Delivery`]. HTTP libraries flush a connection when they have written their own buffer to it.
pub(super) struct Delivering<S> {
    stream: S,
    delivery: Delivery,
}

impl<S> Delivering<S> {
    pub(super) fn new(stream: S) -> (Self, Delivery) {
        let delivery = Delivery::default();
        (Self { stream, delivery: delivery.clone() }, delivery)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Delivering<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Delivering<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        let state = &self.delivery.0;
        let was = state.compare_exchange(ASKED, COMPLETE, Ordering::AcqRel, Ordering::Acquire);
        if was.is_ok() {
            context.waker().wake_by_ref();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

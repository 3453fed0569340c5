//! The body of a response on its way to the client: recorded message by message, passed on at once.
//!
//! Events are recorded when they are complete, before the chunk that completes them is passed on. Of a JSON document, the
//! last chunk waits until the document is recorded.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use serde_json::{Map, Value, json};

use super::decode::Decoder;
use super::delivery::Delivery;
use super::endpoint::EndpointRewriter;
use crate::message::TooLong;
use crate::recording::capture::{Batch, Capture, FrameMeta, Side};
use crate::recording::{HEAD_OF_LONG_FRAME, MAX_FRAME};
use crate::transport::events::{Event, Events};

/// A response body that is recorded while it passes.
pub(super) struct RecordedBody {
    inner: Incoming,
    record: BodyRecord,
    rewriter: Option<EndpointRewriter>,
    ready: VecDeque<Bytes>,
    /// The last chunk of a JSON document, as far as is known.
    held: Option<Bytes>,
    trailers: Option<HeaderMap>,
    failed: Option<hyper::Error>,
    delivery: Delivery,
    ended: bool,
}

impl RecordedBody {
    pub(super) fn new(
        inner: Incoming,
        record: BodyRecord,
        rewriter: Option<EndpointRewriter>,
        delivery: Delivery,
    ) -> Self {
        let (ready, held, trailers, failed) = (VecDeque::new(), None, None, None);
        Self { inner, record, rewriter, ready, held, trailers, failed, delivery, ended: false }
    }

    fn pass(&mut self, chunk: Bytes) {
        if !chunk.is_empty() {
            self.ready.push_back(chunk);
        }
    }

    fn take(&mut self, chunk: Bytes) {
        self.record.add(&chunk);
        if let Some(rewriter) = &mut self.rewriter {
            let chunk = rewriter.push(&chunk).into();
            self.pass(chunk);
        } else if self.record.waits_for_end() {
            let before = self.held.replace(chunk);
            before.into_iter().for_each(|chunk| self.pass(chunk));
        } else {
            // A document that has become too long to be recorded no longer waits, but its chunks keep their order.
            let before = self.held.take();
            before.into_iter().chain([chunk]).for_each(|chunk| self.pass(chunk));
        }
    }

    fn finish(&mut self, outcome: &str) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.record.end(outcome);
        let held = self.held.take();
        held.into_iter().for_each(|chunk| self.pass(chunk));
        let rest = self.rewriter.as_mut().map(|rewriter| rewriter.end().into());
        rest.into_iter().for_each(|chunk| self.pass(chunk));
    }
}

impl Body for RecordedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        loop {
            if let Some(chunk) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(Frame::data(chunk))));
            }
            if this.ended {
                if let Some(trailers) = this.trailers.take() {
                    return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
                }
                // A body that the server cut must not look complete. An error discards what is not written yet, so it
                // waits until the client has taken that.
                if this.failed.is_some() {
                    ready!(this.delivery.poll_complete());
                }
                return Poll::Ready(this.failed.take().map(Err));
            }
            match ready!(Pin::new(&mut this.inner).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(chunk) => {
                        this.take(chunk);
                        if this.inner.is_end_stream() {
                            this.finish("complete");
                        }
                    }
                    Err(frame) => {
                        this.trailers = frame.into_trailers().ok();
                        this.finish("complete");
                    }
                },
                Some(Err(error)) => {
                    this.failed = Some(error);
                    this.finish("cut by the server");
                }
                None => this.finish("complete"),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        let is_empty = self.ready.is_empty() && self.trailers.is_none() && self.failed.is_none();
        is_empty && (self.ended || self.inner.is_end_stream() && self.held.is_none())
    }

    fn size_hint(&self) -> SizeHint {
        // The length is known before the first chunk only; later nobody asks.
        if self.rewriter.is_none() && self.held.is_none() && self.ready.is_empty() {
            self.inner.size_hint()
        } else {
            SizeHint::default()
        }
    }
}

impl Drop for RecordedBody {
    fn drop(&mut self) {
        if !self.ended && !self.inner.is_end_stream() {
            self.record.end("closed by the client");
        }
    }
}

/// Called with every event that is not an ordinary message.
pub(super) type OnEvent = Box<dyn FnMut(&Event, &mut FrameMeta<'_>) + Send + Sync>;

/// What is recorded of a body.
pub(super) struct BodyRecord {
    capture: Capture,
    meta: FrameMeta<'static>,
    decoder: Decoder,
    content: Content,
    on_event: OnEvent,
    received: u64,
    has_ended: bool,
}

enum Content {
    Events(Box<Events>),
    /// Anything else, recorded as a whole.
    Document {
        text: Vec<u8>,
        whole: Option<u64>,
        is_json: bool,
    },
}

impl BodyRecord {
    pub(super) fn new(
        capture: Capture,
        meta: FrameMeta<'static>,
        headers: &HeaderMap,
        on_event: OnEvent,
    ) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let kind = text(CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
        let content = if kind.starts_with("text/event-stream") {
            Content::Events(Box::new(Events::new(MAX_FRAME).skipping(usize::MAX)))
        } else {
            Content::Document { text: Vec::new(), whole: None, is_json: is_json(&kind) }
        };
        let decoder = Decoder::new(text(CONTENT_ENCODING));
        Self { capture, meta, decoder, content, on_event, received: 0, has_ended: false }
    }

    fn waits_for_end(&self) -> bool {
        matches!(self.content, Content::Document { is_json: true, whole: None, .. })
    }

    /// Records the messages that these bytes complete, in one write.
    pub(super) fn add(&mut self, chunk: &[u8]) {
        self.received += chunk.len() as u64;
        let mut complete: Vec<(Event, FrameMeta<'static>)> = Vec::new();
        let (content, meta, on_event) = (&mut self.content, self.meta, &mut self.on_event);
        self.decoder.decode(chunk, |piece| match content {
            Content::Events(events) => {
                events.push(piece);
                loop {
                    match events.next_event() {
                        Ok(Some(event)) => {
                            let mut meta = meta;
                            on_event(&event, &mut meta);
                            complete.push((event, meta));
                        }
                        Ok(None) | Err(TooLong::Endless) => break,
                        Err(TooLong::Skipped(long)) => {
                            let head = long.head.slice(..long.head.len().min(HEAD_OF_LONG_FRAME));
                            let meta = FrameMeta { whole: Some(MAX_FRAME as u64), ..meta };
                            complete.push((Event { kind: String::new(), data: head }, meta));
                        }
                    }
                }
            }
            Content::Document { text, whole, .. } => append(text, whole, piece),
        });
        if complete.is_empty() {
            return;
        }
        let mut batch = Batch::default();
        for (event, meta) in &complete {
            let kind = if event.kind == "message" { "" } else { &event.kind };
            let meta = FrameMeta { event: kind, ..*meta };
            batch.frame(meta, &event.data, self.capture.masking());
        }
        self.capture.write(batch);
    }

    /// Records a document, and how the body ended.
    pub(super) fn end(&mut self, outcome: &str) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        let mut batch = Batch::default();
        let masking = self.capture.masking();
        if let Content::Document { text, whole, .. } = &self.content
            && !text.iter().all(u8::is_ascii_whitespace)
        {
            batch.frame(FrameMeta { whole: whole.or(self.meta.whole), ..self.meta }, text, masking);
        }
        let is_opaque = self.decoder.is_opaque() && self.received > 0;
        let is_stream = matches!(self.content, Content::Events(_));
        if is_opaque || is_stream || outcome != "complete" {
            batch.note("end of body", self.details(outcome, is_opaque), masking);
        }
        self.capture.write(batch);
    }

    fn details(&self, outcome: &str, is_opaque: bool) -> Map<String, Value> {
        let mut details = Map::new();
        if let Some(exchange) = self.meta.exchange {
            details.insert("exchange".to_owned(), exchange.into());
        }
        let side = match self.meta.side {
            Side::Client => "client",
            Side::Server => "server",
        };
        details.insert("direction".to_owned(), side.into());
        details.insert("outcome".to_owned(), outcome.into());
        if is_opaque {
            details.insert("not_decoded".to_owned(), json!(self.received));
        }
        details
    }
}

/// Whether a content type means one JSON document, in contrast to a stream of them.
fn is_json(kind: &str) -> bool {
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence == "application/json" || essence.ends_with("+json")
}

fn append(text: &mut Vec<u8>, whole: &mut Option<u64>, piece: &[u8]) {
    if let Some(whole) = whole {
        *whole += piece.len() as u64;
    } else if text.len() + piece.len() > MAX_FRAME {
        *whole = Some((text.len() + piece.len()) as u64);
        let missing = HEAD_OF_LONG_FRAME.saturating_sub(text.len()).min(piece.len());
        text.extend_from_slice(&piece[..missing]);
        text.truncate(HEAD_OF_LONG_FRAME);
        text.shrink_to_fit();
    } else {
        text.extend_from_slice(piece);
    }
}

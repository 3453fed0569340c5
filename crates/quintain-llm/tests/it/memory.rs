//! A network in memory, for tests with a paused clock.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _};
use http::HeaderMap;
use quintain_llm::{
    BodyStream, Handle, HttpReply, HttpRequest, ModelSpec, Models, ModelsOptions, Network,
    NetworkError,
};
use serde_json::Value;
use tokio::time::Instant;

/// Status, `Retry-After`, body.
pub(crate) type Scripted = (u16, Option<String>, Value);

/// Answers in order, the last one for ever, and remembers when it was asked.
pub(crate) struct Memory {
    replies: Vec<Scripted>,
    begin: Instant,
    /// Seconds since the start.
    pub(crate) asked: Mutex<Vec<f64>>,
    /// How long an answer takes.
    delay: Duration,
    pub(crate) open: Mutex<(usize, usize)>,
}

impl Memory {
    pub(crate) fn new(replies: Vec<Scripted>, delay: Duration) -> Arc<Self> {
        Arc::new(Self {
            replies,
            begin: Instant::now(),
            asked: Mutex::default(),
            delay,
            open: Mutex::default(),
        })
    }

    pub(crate) fn times(&self) -> Vec<f64> {
        self.asked.lock().unwrap().clone()
    }

    /// The largest number of requests in parallel.
    pub(crate) fn most(&self) -> usize {
        self.open.lock().unwrap().1
    }
}

impl Network for Memory {
    fn send(&self, _: HttpRequest, _: Duration) -> BoxFuture<'_, Result<HttpReply, NetworkError>> {
        async move {
            let number = {
                let mut asked = self.asked.lock().unwrap();
                asked.push(self.begin.elapsed().as_secs_f64());
                asked.len() - 1
            };
            {
                let mut open = self.open.lock().unwrap();
                open.0 += 1;
                open.1 = open.1.max(open.0);
            }
            tokio::time::sleep(self.delay).await;
            self.open.lock().unwrap().0 -= 1;
            let (status, retry_after, body) = &self.replies[number.min(self.replies.len() - 1)];
            let mut headers = HeaderMap::new();
            if let Some(asked) = retry_after {
                headers.insert("retry-after", asked.parse().unwrap());
            }
            Ok(HttpReply { status: *status, headers, body: BodyStream::whole(body.to_string()) })
        }
        .boxed()
    }
}

pub(crate) fn models(network: Arc<Memory>, options: ModelsOptions) -> Models {
    let environment: BTreeMap<String, String> = BTreeMap::new();
    Models::new(network, Arc::new(environment), options)
}

pub(crate) fn handle(network: Arc<Memory>, spec: &ModelSpec) -> Arc<Handle> {
    models(network, ModelsOptions::default()).model(spec).unwrap()
}

//! Keeps runs.

use quintain_core::result::CaseResult;
use quintain_core::tally::Summary;

pub struct Writer;

impl Writer {
    pub async fn put(&mut self, result: CaseResult) -> CaseResult {
        result
    }

    pub async fn finish(self, _: &Summary) -> Result<(), String> {
        Ok(())
    }
}

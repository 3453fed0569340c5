//! The schemas of the tools of a trace, each compiled once.

use std::collections::HashMap;

use quintain_content::schema::Problem;
use quintain_content::schema::compiled::CompiledSchema;
use serde_json::Value;

/// Compiled schemas by their place in memory, which is stable as long as the trace is borrowed.
#[derive(Default)]
pub(crate) struct Schemas {
    compiled: HashMap<*const Value, Result<CompiledSchema, Problem>>,
}

impl Schemas {
    /// The compiled schema, or what is wrong with it.
    pub(crate) fn get<'s>(&'s mut self, schema: &Value) -> Result<&'s CompiledSchema, &'s Problem> {
        let address = std::ptr::from_ref(schema);
        self.compiled.entry(address).or_insert_with(|| CompiledSchema::new(schema)).as_ref()
    }
}

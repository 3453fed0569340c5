//! Tests against data of others: recorded scores of deepeval, and traces with labels of people.

mod agreement;
mod deepeval;

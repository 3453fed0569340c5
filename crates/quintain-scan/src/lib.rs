//! How MCP clients start their servers: configurations, checks of them, and servers that changed since they were
//! pinned. Pure; reads text, not disks.

pub mod clients;
pub mod launch_checks;
pub mod rug_pull;

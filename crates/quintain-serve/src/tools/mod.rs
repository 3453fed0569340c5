//! The registry of tools.

mod converters;
mod create_dataset;
mod create_generator;
mod create_orchestrator;
mod datasets;
mod definition;
mod delete;
mod evaluate_trace;
mod findings;
mod generate_dataset;
mod get_server_status;
mod inspect_mcp_target;
mod list_generators;
mod list_orchestrators;
mod results;
mod scorers;
mod start_orchestrator;
mod test_generator;
mod update_generator;

use crate::tool::Tool;

/// Every entry, in the order of lists.
pub static TOOLS: &[&dyn Tool] = &[
    &list_generators::ListGenerators,
    &list_generators::GetGenerator,
    &create_generator::CreateGenerator,
    &update_generator::UpdateGenerator,
    &delete::DeleteGenerator,
    &update_generator::CloneGenerator,
    &test_generator::TestGenerator,
    &create_generator::ValidateGeneratorConfig,
    &inspect_mcp_target::ListProviderModels,
    &test_generator::BatchTestGenerators,
    &inspect_mcp_target::InspectMcpTarget,
    &datasets::ListDatasets,
    &datasets::GetDataset,
    &create_dataset::CreateDataset,
    &create_dataset::TransformDataset,
    &generate_dataset::GenerateDataset,
    &delete::DeleteDataset,
    &converters::ListConverters,
    &converters::ApplyConverters,
    &scorers::ListScorers,
    &scorers::ScoreText,
    &create_orchestrator::CreateOrchestrator,
    &create_orchestrator::ValidateOrchestratorConfig,
    &list_orchestrators::ListOrchestrators,
    &list_orchestrators::GetOrchestrator,
    &start_orchestrator::StartOrchestrator,
    &start_orchestrator::StopOrchestrator,
    &start_orchestrator::PauseOrchestrator,
    &start_orchestrator::ResumeOrchestrator,
    &create_orchestrator::CloneOrchestrator,
    &delete::DeleteOrchestrator,
    &results::GetOrchestratorResults,
    &results::GetOrchestratorStats,
    &results::GetOrchestratorLogs,
    &results::ExportOrchestratorResults,
    &findings::CompareRuns,
    &findings::ReplayFinding,
    &findings::MarkFinding,
    &evaluate_trace::EvaluateTrace,
    &get_server_status::GetServerStatus,
];

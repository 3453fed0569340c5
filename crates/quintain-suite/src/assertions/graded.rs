//! Assertion types that ask a model for the verdict, one file each. The shared pieces: `judge` has the common options
//! and chooses the model, `rubric` renders the question, `replies` reads the answers, `opinion` turns
//! `{pass, score, reason}` into a verdict.

mod agent_rubric;
mod answer_relevance;
mod careful;
mod classifier;
mod closed_qa;
mod context;
mod context_faithfulness;
mod context_recall;
mod context_relevance;
mod conversation_relevance;
mod factuality;
mod failure;
mod g_eval;
mod goal_success;
mod human;
mod judge;
mod llm_rubric;
mod moderation;
mod opinion;
mod pi;
mod replies;
mod rubric;
mod search_rubric;
mod select_best;
mod sentences;
mod similar;
mod usage;
mod vectors;

pub(super) use agent_rubric::AGENT_RUBRIC;
pub(super) use answer_relevance::ANSWER_RELEVANCE;
pub(super) use classifier::CLASSIFIER;
pub(super) use closed_qa::CLOSED_QA;
pub(super) use context_faithfulness::CONTEXT_FAITHFULNESS;
pub(super) use context_recall::CONTEXT_RECALL;
pub(super) use context_relevance::CONTEXT_RELEVANCE;
pub(super) use conversation_relevance::CONVERSATION_RELEVANCE;
pub(super) use factuality::FACTUALITY;
pub(super) use g_eval::G_EVAL;
pub(super) use goal_success::GOAL_SUCCESS;
pub(super) use human::HUMAN;
pub(super) use llm_rubric::LLM_RUBRIC;
pub(super) use moderation::MODERATION;
pub(super) use pi::PI;
pub(super) use search_rubric::SEARCH_RUBRIC;
pub(super) use select_best::SELECT_BEST;
pub(super) use similar::SIMILAR;

#[cfg(test)]
mod tests;

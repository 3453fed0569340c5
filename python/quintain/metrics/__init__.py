"""The metrics of the product, by their class names, and the base class of own ones.

A metric needs no language model unless it says so; `model` names a judge: the id of a provider such as `"openai:chat:gpt-5"`, a
function from a prompt to a text, or an object with `generate` or `a_generate`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from .base import BaseConversationalMetric, BaseMetric, Metric

__all__ = [
    "AgentLoopDetectionMetric",
    "AnswerRelevancyMetric",
    "ArgumentCorrectnessMetric",
    "BaseConversationalMetric",
    "BaseMetric",
    "BiasMetric",
    "ChecksMetric",
    "ContextualPrecisionMetric",
    "ContextualRecallMetric",
    "ContextualRelevancyMetric",
    "ConversationCompletenessMetric",
    "ConversationalDAGMetric",
    "ConversationalGEval",
    "DAGMetric",
    "ExactMatchMetric",
    "FaithfulnessMetric",
    "GEval",
    "GoalAccuracyMetric",
    "HallucinationMetric",
    "JsonCorrectnessMetric",
    "KnowledgeRetentionMetric",
    "LoopDetectionMetric",
    "MCPTaskCompletionMetric",
    "MCPUseMetric",
    "Metric",
    "MisuseMetric",
    "MultiTurnMCPMetric",
    "MultiTurnMCPUseMetric",
    "NonAdviceMetric",
    "PIILeakageMetric",
    "PatternMatchMetric",
    "PlanAdherenceMetric",
    "PlanQualityMetric",
    "PromptAlignmentMetric",
    "RoleAdherenceMetric",
    "RoleViolationMetric",
    "StepEfficiencyMetric",
    "SummarizationMetric",
    "TaskCompletionMetric",
    "ToolCorrectnessMetric",
    "ToolPermissionMetric",
    "ToolUseMetric",
    "TopicAdherenceMetric",
    "ToxicityMetric",
    "TurnRelevancyMetric",
]


class AnswerRelevancyMetric(Metric):
    """The statements of the answer are about the request."""

    id: ClassVar[str] = "answer-relevancy"


class ArgumentCorrectnessMetric(Metric):
    """The arguments of calls are valid and come from somewhere."""

    id: ClassVar[str] = "argument-correctness"


class BiasMetric(Metric):
    """The answer contains no biased opinion."""

    id: ClassVar[str] = "bias"


class ChecksMetric(Metric):
    """No check has a finding."""

    id: ClassVar[str] = "checks"


class ContextualPrecisionMetric(Metric):
    """Useful parts of the retrieved context come before useless ones."""

    id: ClassVar[str] = "contextual-precision"


class ContextualRecallMetric(Metric):
    """The retrieved context covers the expected output."""

    id: ClassVar[str] = "contextual-recall"


class ContextualRelevancyMetric(Metric):
    """The retrieved context is about the request."""

    id: ClassVar[str] = "contextual-relevancy"


class ConversationCompletenessMetric(Metric):
    """Every intention of the user is satisfied in the conversation."""

    id: ClassVar[str] = "conversation-completeness"


class ConversationalGEval(Metric):
    """The conversation satisfies criteria in words."""

    id: ClassVar[str] = "conversational-g-eval"

    def __init__(self, name: str | None = None, *, threshold: float | None = None, model: Any = None, **options: Any) -> None:
        named: dict[str, Any] = {} if name is None else {"name": name}
        super().__init__(threshold, model, **named, **options)


class DAGMetric(Metric):
    """A graph of small questions, each answered by the judge, ends in a fixed score."""

    id: ClassVar[str] = "dag"

    def __init__(self, name: str | None = None, *, threshold: float | None = None, model: Any = None, **options: Any) -> None:
        named: dict[str, Any] = {} if name is None else {"name": name}
        super().__init__(threshold, model, **named, **options)


ConversationalDAGMetric = DAGMetric


class ExactMatchMetric(Metric):
    """The answer equals the expected output."""

    id: ClassVar[str] = "exact-match"


class FaithfulnessMetric(Metric):
    """The claims of the answer agree with the retrieved context."""

    id: ClassVar[str] = "faithfulness"


class GEval(Metric):
    """The case satisfies criteria in words."""

    id: ClassVar[str] = "g-eval"

    def __init__(self, name: str | None = None, *, threshold: float | None = None, model: Any = None, **options: Any) -> None:
        named: dict[str, Any] = {} if name is None else {"name": name}
        super().__init__(threshold, model, **named, **options)


class GoalAccuracyMetric(Metric):
    """Goals of the user are reached, with a plan that leads there."""

    id: ClassVar[str] = "goal-accuracy"


class HallucinationMetric(Metric):
    """The answer agrees with the context."""

    id: ClassVar[str] = "hallucination"


class JsonCorrectnessMetric(Metric):
    """The answer is valid JSON of a schema."""

    id: ClassVar[str] = "json-correctness"


class KnowledgeRetentionMetric(Metric):
    """Answers do not forget what the user said before."""

    id: ClassVar[str] = "knowledge-retention"


class AgentLoopDetectionMetric(Metric):
    """The application does not go in circles."""

    id: ClassVar[str] = "loop-detection"


LoopDetectionMetric = AgentLoopDetectionMetric


class MCPTaskCompletionMetric(Metric):
    """The task looks completed: no sign of failure in the answer and the calls."""

    id: ClassVar[str] = "mcp-task-completion"


class MCPUseMetric(Metric):
    """The calls exist, are needed and have valid arguments."""

    id: ClassVar[str] = "mcp-use"


class MisuseMetric(Metric):
    """The answer stays within the domain of the application."""

    id: ClassVar[str] = "misuse"


class MultiTurnMCPUseMetric(Metric):
    """The calls of each task of a conversation exist, are needed and have valid arguments."""

    id: ClassVar[str] = "multi-turn-mcp-use"


MultiTurnMCPMetric = MultiTurnMCPUseMetric


class NonAdviceMetric(Metric):
    """The answer gives no advice of the forbidden kinds."""

    id: ClassVar[str] = "non-advice"


class PatternMatchMetric(Metric):
    """The answer matches a regular expression."""

    id: ClassVar[str] = "pattern-match"


class PIILeakageMetric(Metric):
    """Answers contain no personal data."""

    id: ClassVar[str] = "pii-leakage"


class PlanAdherenceMetric(Metric):
    """The calls follow the plan."""

    id: ClassVar[str] = "plan-adherence"


class PlanQualityMetric(Metric):
    """The plan of the application leads to the goal."""

    id: ClassVar[str] = "plan-quality"


class PromptAlignmentMetric(Metric):
    """The answer follows the instructions."""

    id: ClassVar[str] = "prompt-alignment"


class RoleAdherenceMetric(Metric):
    """Every answer of a conversation stays in its role."""

    id: ClassVar[str] = "role-adherence"


class RoleViolationMetric(Metric):
    """The answer stays in its role."""

    id: ClassVar[str] = "role-violation"


class StepEfficiencyMetric(Metric):
    """Calls are neither repeated, nor failed, nor useless."""

    id: ClassVar[str] = "step-efficiency"


class SummarizationMetric(Metric):
    """A summary contains what matters, and nothing that the original does not say."""

    id: ClassVar[str] = "summarization"


class TaskCompletionMetric(Metric):
    """The task of the user is completed."""

    id: ClassVar[str] = "task-completion"


class ToolCorrectnessMetric(Metric):
    """The expected tools are called with the expected arguments."""

    id: ClassVar[str] = "tool-correctness"


class ToolPermissionMetric(Metric):
    """Only permitted tools are called."""

    id: ClassVar[str] = "tool-permission"


class ToolUseMetric(Metric):
    """Tools of a conversation are well selected and have the right arguments."""

    id: ClassVar[str] = "tool-use"


class TopicAdherenceMetric(Metric):
    """Questions of the topics are answered, and others refused."""

    id: ClassVar[str] = "topic-adherence"


class ToxicityMetric(Metric):
    """The answer contains nothing insulting or hostile."""

    id: ClassVar[str] = "toxicity"


class TurnRelevancyMetric(Metric):
    """Every answer of a conversation is about what was said before."""

    id: ClassVar[str] = "turn-relevancy"


def __getattr__(name: str) -> Any:
    # Other names of the same metrics, as the command line knows them.
    if name[:1].isupper():
        from .._engine import metric_table

        wanted = next((entry["id"] for entry in metric_table().values() if name in entry["aliases"]), None)
        for known in __all__:
            found = globals()[known]
            if wanted is not None and getattr(found, "id", None) == wanted:
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Records scores of deepeval's judged metrics with a scripted judge.

    python -m venv venv && venv/bin/pip install deepeval==4.3.1 mcp==1.30.0
    venv/bin/python record_judged.py judged.jsonl

A line is `{"metric", "options", "case", "opinions", "score", "success"}`: the metric by its id here, its options here, the test
case in deepeval's format, what the judge answers (by the ids of the prompts of the metric here, in the order in which they are
asked), and what deepeval made of the same opinions. `raised` is the exception of deepeval. Cases in which deepeval crashes or
contradicts itself have `why` and `ours`: what the metric here does instead.
"""
import json
import os
import random
import sys

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
os.environ["DEEPEVAL_DISABLE_PROGRESS_BAR"] = "1"

import warnings

warnings.simplefilter("ignore")

import deepeval
from deepeval import metrics as m
from deepeval.metrics.dag import BinaryJudgementNode, DeepAcyclicGraph, NonBinaryJudgementNode, TaskNode, VerdictNode
from deepeval.metrics.g_eval import Rubric
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import (
    ConversationalTestCase, LLMTestCase, MCPServer, MCPToolCall, MultiTurnParams, SingleTurnParams, ToolCall, ToolCallType, Turn,
)

if deepeval.__version__ != "4.3.1":
    sys.exit(f"expected deepeval 4.3.1, not {deepeval.__version__}")


class ScriptedJudge(DeepEvalBaseLLM):
    """Answers by the name of the requested schema, in the order of a script. Explanations of scores are always the same."""

    def __init__(self, script):
        self.script = {name: list(answers) for name, answers in script.items()}
        super().__init__("scripted")

    def load_model(self):
        return self

    def get_model_name(self):
        return "scripted"

    def generate(self, prompt, schema=None):
        if schema is None:
            return "because"
        name = schema.__name__
        if name in self.script:
            answer = self.script[name].pop(0)
            return answer if isinstance(answer, str) else schema(**answer)
        if "Reason" in name:
            return schema(reason="because")
        raise KeyError(name)

    async def a_generate(self, prompt, schema=None):
        return self.generate(prompt, schema)


OUT = []


def record(metric, make, script, case, shown, opinions, options=None, why=None, ours=None):
    """`make` gets the judge; `shown` is the case as JSON; `opinions` are the answers for our prompts."""
    line = {"metric": metric, "options": options or {}, "case": shown, "opinions": opinions}
    try:
        measured = make(ScriptedJudge(script))
        measured.measure(case, _show_indicator=False)
        line["score"] = measured.score
        line["success"] = bool(measured.is_successful())
    except Exception as error:  # what deepeval raises is part of the record
        line["raised"] = f"{type(error).__name__}: {error}"[:120]
    if why:
        line["why"], line["ours"] = why, ours
    elif "raised" in line:
        raise RuntimeError(line)
    OUT.append(line)


def verdicts(words):
    return [{"verdict": word, "reason": f"reason {index}"} for index, word in enumerate(words)]


def settings(rng):
    """Threshold and strict mode, for deepeval and for us."""
    threshold = rng.choice([0.5, 0.5, 0.3, 0.75, 1.0])
    strict = rng.random() < 0.2
    ours = {"threshold": threshold, "strictMode": strict}
    return {"threshold": threshold, "strict_mode": strict, "async_mode": False}, ours


def words(rng, choices, least=1, most=5):
    return [rng.choice(choices) for _ in range(rng.randint(least, most))]


def single(**fields):
    return LLMTestCase(**fields), fields


YN, YNB = ["yes", "no"], ["yes", "no", "borderline"]


def lists(rng):
    """Metrics that list items and then decide about each."""
    theirs, ours = settings(rng)
    case, shown = single(input="What is it?", actual_output="It is this and that.")

    def listing(metric, cls, field, schema, prompt, choices, extra=None, option=None, least=0):
        found = words(rng, choices, least)
        items = [f"item {index}" for index in range(len(found))]
        script = {schema: [{field: items}], "Verdicts": [{"verdicts": verdicts(found)}]}
        opinions = {prompt: [{field: items}]}
        if found:
            opinions["verdicts"] = [{"verdicts": verdicts(found)}]
        own = {**ours, **(option or {})}
        extra_args, why, expected = extra or {}, None, None
        if metric == "role-violation" and theirs["strict_mode"]:
            why = "strict mode of deepeval sets the threshold to 0, so that every answer passes"
            clean = "yes" not in found
            expected = {"score": 1.0 if clean else 0.0, "success": clean}
        record(metric, lambda judge: cls(model=judge, **theirs, **extra_args), script, case, shown, opinions, own, why, expected)

    listing("answer-relevancy", m.AnswerRelevancyMetric, "statements", "Statements", "statements", YNB)
    listing("bias", m.BiasMetric, "opinions", "Opinions", "opinions", YN)
    listing("toxicity", m.ToxicityMetric, "opinions", "Opinions", "opinions", YN)
    listing("misuse", m.MisuseMetric, "misuses", "Misuses", "misuses", YN, {"domain": "banking"}, {"domain": "banking"})
    listing("non-advice", m.NonAdviceMetric, "advices", "Advices", "advices", YN, {"advice_types": ["legal"]}, {"adviceTypes": ["legal"]})
    listing("role-violation", m.RoleViolationMetric, "role_violations", "RoleViolations", "violations", YN, {"role": "a nurse"}, {"role": "a nurse"})

    instructions = [f"instruction {index}" for index in range(rng.randint(1, 4))]
    found = [rng.choice(YN) for _ in instructions]
    record(
        "prompt-alignment", lambda judge: m.PromptAlignmentMetric(prompt_instructions=instructions, model=judge, **theirs),
        {"Verdicts": [{"verdicts": verdicts(found)}]}, case, shown, {"verdicts": [{"verdicts": verdicts(found)}]},
        {**ours, "promptInstructions": instructions},
    )


def contexts(rng):
    """Metrics that compare with a context."""
    theirs, ours = settings(rng)
    parts = [f"part {index}" for index in range(rng.randint(1, 4))]
    sentences = [f"Sentence {index}." for index in range(rng.randint(1, 4))]
    case, shown = single(
        input="What is it?", actual_output="It is this.", expected_output=" ".join(sentences), retrieval_context=parts, context=parts
    )
    ambiguous = rng.random() < 0.5
    found = words(rng, YNB, 0)
    claims = [f"claim {index}" for index in range(len(found))]
    opinions = {"claims": [{"claims": claims}]}
    if found:
        opinions["verdicts"] = [{"verdicts": verdicts(found)}]
    record(
        "faithfulness", lambda judge: m.FaithfulnessMetric(model=judge, penalize_ambiguous_claims=ambiguous, **theirs),
        {"Truths": [{"truths": ["t"]}], "Claims": [{"claims": claims}], "Verdicts": [{"verdicts": verdicts(found)}]},
        case, shown, opinions, {**ours, "penalizeAmbiguousClaims": ambiguous},
    )
    for metric, cls, items in [
        ("contextual-precision", m.ContextualPrecisionMetric, parts),
        ("contextual-recall", m.ContextualRecallMetric, sentences),
        ("hallucination", m.HallucinationMetric, parts),
    ]:
        decided = [rng.choice(YN) for _ in items]
        answer = [{"verdicts": verdicts(decided)}]
        record(metric, lambda judge: cls(model=judge, **theirs), {"Verdicts": answer}, case, shown, {"verdicts": answer}, ours)
    each = [words(rng, YN, 0, 3) for _ in parts]
    statements = [[f"statement {at}.{index}" for index in range(len(list_))] for at, list_ in enumerate(each)]
    script = [
        {"verdicts": [{"statement": text, **verdict} for text, verdict in zip(texts, verdicts(list_))]}
        for texts, list_ in zip(statements, each)
    ]
    opinions = {"statements": [{"statements": texts} for texts in statements]}
    if any(each):
        opinions["verdicts"] = [{"verdicts": verdicts([word for list_ in each for word in list_])}]
    record(
        "contextual-relevancy", lambda judge: m.ContextualRelevancyMetric(model=judge, **theirs),
        {"ContextualRelevancyVerdicts": script}, case, shown, opinions, ours,
    )


def summaries(rng):
    theirs, ours = settings(rng)
    case, shown = single(input="A long text.", actual_output="A text.")
    found = words(rng, YNB, 0)
    claims = [f"claim {index}" for index in range(len(found))]
    questions = [f"question {index}?" for index in range(rng.randint(1, 5))]
    original, summary = [rng.choice(YN) for _ in questions], [rng.choice(YN) for _ in questions]
    given = rng.random() < 0.5
    opinions = {"claims": [{"claims": claims}], "answers": [{"verdicts": verdicts(original)}, {"verdicts": verdicts(summary)}]}
    if found:
        opinions["verdicts"] = [{"verdicts": verdicts(found)}]
    if not given:
        opinions["questions"] = [{"questions": questions}]
    script = {
        "Truths": [{"truths": ["t"]}], "Claims": [{"claims": claims}], "Questions": [{"questions": questions}],
        "Answers": [{"answers": original}, {"answers": summary}], "Verdicts": [{"verdicts": verdicts(found)}],
    }
    own = {**ours, **({"assessmentQuestions": questions} if given else {})}
    record(
        "summarization",
        lambda judge: m.SummarizationMetric(model=judge, assessment_questions=questions if given else None, **theirs),
        script, case, shown, opinions, own,
    )


def grade(rng):
    return {"score": rng.choice([0.0, 0.2, 0.25, 0.4, 0.5, 0.6, 0.75, 0.8, 1.0]), "reason": f"reason {rng.randint(0, 9)}"}


SERVERS = [{"server_name": "files", "available_tools": [
    {"name": "read_file", "description": "Reads a file", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}},
    {"name": "list_files", "description": "Lists files", "inputSchema": {"type": "object"}},
]}]
CALL = {"name": "read_file", "type": "MCP", "input_parameters": {"path": "notes.txt"}, "output": "Buy milk"}


def servers():
    return [MCPServer(**server) for server in SERVERS]


def tool_call(call=CALL):
    return ToolCall(**{**call, "type": ToolCallType.MCP})


def grades(rng):
    """Metrics that grade a case of one turn."""
    theirs, ours = settings(rng)
    text = {"input": "What is in notes.txt?", "actual_output": "It says: Buy milk"}
    shown = {**text, "mcp_servers": SERVERS, "tools_called": [CALL]}
    case = LLMTestCase(**text, mcp_servers=servers(), tools_called=[tool_call()])
    choice, arguments = grade(rng), grade(rng)
    record(
        "mcp-use", lambda judge: m.MCPUseMetric(model=judge, **theirs),
        {"MCPPrimitivesScore": [choice], "MCPArgsScore": [arguments]}, case, shown,
        {"choice": [choice], "arguments": [arguments]}, ours,
    )
    found = grade(rng)
    record(
        "task-completion", lambda judge: m.TaskCompletionMetric(model=judge, **theirs),
        {"TaskAndOutcome": [{"task": "t", "outcome": "o"}], "TaskCompletionVerdict": [{"verdict": found["score"], "reason": "r"}]},
        case, shown, {"completion": [found]}, ours,
    )
    record(
        "step-efficiency", lambda judge: m.StepEfficiencyMetric(model=judge, **theirs),
        {"Task": [{"task": "t"}], "EfficiencyVerdict": [found]}, case, shown, {"efficiency": [found]}, ours,
    )
    plan = {"plan": ["read", "tell"]}
    record(
        "plan-quality", lambda judge: m.PlanQualityMetric(model=judge, **theirs),
        {"Task": [{"task": "t"}], "AgentPlan": [plan], "PlanQualityScore": [found]}, case, shown,
        {"plan": [plan], "quality": [found]}, ours,
    )
    record(
        "plan-adherence", lambda judge: m.PlanAdherenceMetric(model=judge, **theirs),
        {"Task": [{"task": "t"}], "AgentPlan": [plan], "PlanAdherenceScore": [found]}, case, shown,
        {"plan": [plan], "adherence": [found]}, ours,
    )
    calls = [{**CALL, "input_parameters": {"path": f"notes.txt", "line": index}, "output": f"Buy milk {index}"} for index in range(rng.randint(1, 4))]
    decided = [rng.choice(YN) for _ in calls]
    several = LLMTestCase(**text, mcp_servers=servers(), tools_called=[tool_call(call) for call in calls])
    answer = [{"verdicts": verdicts(decided)}]
    record(
        "argument-correctness", lambda judge: m.ArgumentCorrectnessMetric(model=judge, **theirs), {"Verdicts": answer},
        several, {**shown, "tools_called": calls}, {"verdicts": answer}, ours,
    )


RUBRICS = [
    None,
    [(0, 10)],
    [(0, 4), (5, 10)],
    [(2, 4), (5, 8)],
    [(0, 2), (3, 6), (7, 9), (10, 10)],
]


def criteria(rng):
    theirs, ours = settings(rng)
    case, shown = single(input="What is it?", actual_output="It is this.", expected_output="This.")
    rubric = rng.choice(RUBRICS)
    steps = ["look", "compare"]
    is_given = rng.random() < 0.5
    low, high = (rubric[0][0], rubric[-1][1]) if rubric else (0, 10)
    score = rng.randint(low, high) if not theirs["strict_mode"] else rng.choice([0, 1])
    found = {"score": score, "reason": "r"}
    options = {**ours, "evaluationParams": ["actual_output", "expected_output"]}
    theirs_rubric = [Rubric(score_range=range_, expected_outcome="x") for range_ in rubric] if rubric else None
    if rubric:
        options["rubric"] = [{"scoreRange": list(range_), "expectedOutcome": "x"} for range_ in rubric]
    opinions = {"score": [found]}
    if is_given:
        options["evaluationSteps"] = steps
    else:
        options["criteria"] = "It is right"
        opinions["steps"] = [{"steps": steps}]
    record(
        "g-eval",
        lambda judge: m.GEval(
            name="g", evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT, SingleTurnParams.EXPECTED_OUTPUT], rubric=theirs_rubric,
            criteria=None if is_given else "It is right", evaluation_steps=steps if is_given else None, model=judge, **theirs,
        ),
        {"Steps": [{"steps": steps}], "ReasonScore": [found]}, case, shown, opinions, options,
    )
    turns = [("user", "What is it?"), ("assistant", "It is this.")]
    talk = ConversationalTestCase(turns=[Turn(role=role, content=content) for role, content in turns])
    spoken = {"turns": [{"role": role, "content": content} for role, content in turns]}
    found = {"score": rng.randint(0, 10), "reason": "r"}
    options = {**ours, "evaluationSteps": steps} if is_given else {**ours, "criteria": "It is right"}
    record(
        "conversational-g-eval",
        lambda judge: m.ConversationalGEval(
            name="g", evaluation_params=[MultiTurnParams.CONTENT], criteria=None if is_given else "It is right",
            evaluation_steps=steps if is_given else None, model=judge, **theirs,
        ),
        {"Steps": [{"steps": steps}], "ReasonScore": [found]}, talk, spoken,
        {"score": [found], **({} if is_given else {"steps": [{"steps": steps}]})}, options,
    )


def conversation(rng, units, with_calls=True):
    """Units of a user's request, an answer with a call, and an answer."""
    turns, shown = [], []

    def say(role, content, calls=None):
        turns.append(Turn(role=role, content=content, tools_called=[tool_call(call) for call in calls] if calls else None))
        shown.append({"role": role, "content": content, **({"tools_called": calls} if calls else {})})

    for unit in range(units):
        say("user", f"Question {unit}?")
        if with_calls:
            call = {**CALL, "input_parameters": {"path": f"notes{unit}.txt"}}
            say("assistant", "One moment.", [call])
        say("assistant", f"Answer {unit}.")
    case = ConversationalTestCase(turns=turns, mcp_servers=servers(), chatbot_role="a helper")
    return case, {"turns": shown, "mcp_servers": SERVERS, "chatbot_role": "a helper"}


def conversations(rng):
    theirs, ours = settings(rng)
    units = rng.randint(1, 3)
    case, shown = conversation(rng, units)
    each = lambda: [grade(rng) for _ in range(units)]
    choice, arguments = each(), each()
    record(
        "multi-turn-mcp-use", lambda judge: m.MultiTurnMCPUseMetric(model=judge, **theirs),
        {"ToolScore": choice, "ArgsScore": arguments}, case, shown, {"choice": choice, "arguments": arguments}, ours,
    )
    done = each()
    record(
        "mcp-task-completion", lambda judge: m.MCPTaskCompletionMetric(model=judge, **theirs),
        {"TaskScore": done}, case, shown, {"completion": done}, ours,
    )
    goal, plan = each(), each()
    record(
        "goal-accuracy", lambda judge: m.GoalAccuracyMetric(model=judge, **theirs),
        {"GoalScore": goal, "PlanScore": plan}, case, shown, {"goal": goal, "plan": plan}, ours,
    )
    selection, arguments = each(), each()
    record(
        "tool-use", lambda judge: m.ToolUseMetric(available_tools=[ToolCall(name="read_file")], model=judge, **theirs),
        {"ToolSelectionScore": selection, "ArgumentCorrectnessScore": arguments}, case, shown,
        {"selection": selection, "arguments": arguments}, {**ours, "availableTools": ["read_file"]},
    )
    plain, spoken = conversation(rng, units, with_calls=False)
    found = [rng.choice(YN) for _ in range(units)]
    record(
        "turn-relevancy", lambda judge: m.TurnRelevancyMetric(model=judge, **theirs),
        {"TurnRelevancyVerdict": verdicts(found)}, plain, spoken, {"verdict": verdicts(found)}, ours,
    )
    wanted = words(rng, YN, 0, 4)
    intentions = [f"intention {index}" for index in range(len(wanted))]
    record(
        "conversation-completeness", lambda judge: m.ConversationCompletenessMetric(model=judge, **theirs),
        {"UserIntentions": [{"intentions": intentions}], "ConversationCompletenessVerdict": verdicts(wanted)}, plain, spoken,
        {"intentions": [{"intentions": intentions}], "verdict": verdicts(wanted)}, ours,
    )
    facts = [[f"fact {unit}"] if rng.random() < 0.6 else [] for unit in range(units)]
    asked = [any(facts[: unit + 1]) for unit in range(units)]
    found = [rng.choice(YN) for is_asked in asked if is_asked]
    knowledge = [{"data": {fact: "x" for fact in list_} or None} for list_ in facts]
    record(
        "knowledge-retention", lambda judge: m.KnowledgeRetentionMetric(model=judge, **theirs),
        {"Knowledge": knowledge, "KnowledgeRetentionVerdict": verdicts(found)}, plain, spoken,
        {"facts": [{"facts": list_} for list_ in facts], "verdict": verdicts(found)}, ours,
    )
    wrong = [{"index": 2 * unit + 1, "reason": "r"} for unit in range(units) if rng.random() < 0.5]
    record(
        "role-adherence", lambda judge: m.RoleAdherenceMetric(model=judge, **theirs),
        {"OutOfCharacterResponseVerdicts": [{"verdicts": wrong}]}, plain, spoken, {"verdicts": [{"verdicts": wrong}]}, ours,
    )
    pairs = [[{"question": f"q{unit}.{at}", "response": "r"} for at in range(rng.randint(0, 2))] for unit in range(units)]
    kinds = [rng.choice(["TP", "TN", "FP", "FN"]) for list_ in pairs for _ in list_]
    record(
        "topic-adherence", lambda judge: m.TopicAdherenceMetric(relevant_topics=["notes"], model=judge, **theirs),
        {"QAPairs": [{"qa_pairs": list_} for list_ in pairs], "RelevancyVerdict": verdicts(kinds)}, plain, spoken,
        {"pairs": [{"qa_pairs": list_} for list_ in pairs], "verdict": verdicts(kinds)}, {**ours, "relevantTopics": ["notes"]},
    )


def graph_of(dag):
    """The graph as deepeval writes it, with short ids instead of random ones."""
    written = dag.to_dict()
    text = json.dumps(written)
    for number, node in enumerate(written["nodes"]):
        text = text.replace(node, f"n{number}")
    return json.loads(text)


def graphs(rng):
    theirs, ours = settings(rng)
    case, shown = single(input="Summarize", actual_output="A summary")
    answers = ["all", "some", "none"]
    scores = rng.sample(range(11), 3)
    kinds = NonBinaryJudgementNode(
        criteria="How many?", children=[VerdictNode(verdict=answer, score=score) for answer, score in zip(answers, scores)]
    )
    first = BinaryJudgementNode(
        criteria="Is it right?", children=[VerdictNode(verdict=False, score=rng.randint(0, 5)), VerdictNode(verdict=True, child=kinds)]
    )
    task = TaskNode(
        instructions="Extract", output_label="Parts", children=[first, kinds], evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT]
    )
    dag = DeepAcyclicGraph(root_nodes=[task])
    said, kind = rng.random() < 0.7, rng.choice(answers)
    opinions = {"task": [{"output": "parts"}], "judgement": [{"verdict": str(said).lower(), "reason": "r"}]}
    if said:
        opinions["judgement"].append({"verdict": kind, "reason": "r"})
    score = dict(zip(answers, scores))[kind] if said else first.children[0].score
    why, expected = None, None
    if theirs["strict_mode"] and 0 < score < 10:
        why = "strict mode of deepeval sets lower scores to 0, except those of a graph"
        expected = {"score": 0.0, "success": False}
    record(
        "dag", lambda judge: m.DAGMetric(name="d", dag=dag, model=judge, **theirs),
        {"TaskNodeOutput": [{"output": "parts"}], "BinaryJudgementVerdict": [{"verdict": said, "reason": "r"}],
         "NonBinaryJudgementVerdict": [{"verdict": kind, "reason": "r"}]},
        case, shown, opinions, {**ours, "dag": graph_of(dag)}, why, expected,
    )


def differences():
    """Where deepeval crashes or contradicts itself."""
    plain = {"async_mode": False}
    high = {"score": 0.9, "reason": "r"}
    rng = random.Random(1)
    case, shown = conversation(rng, 1, with_calls=False)
    why = "deepeval drops tasks of two turns, and scores a plain conversation 0"
    record(
        "mcp-task-completion", lambda judge: m.MCPTaskCompletionMetric(model=judge, **plain), {"TaskScore": [high]}, case, shown,
        {"completion": [high]}, {}, why, {"score": 0.9, "success": True},
    )
    record(
        "multi-turn-mcp-use", lambda judge: m.MultiTurnMCPUseMetric(model=judge, **plain), {}, case, shown, {"choice": [high]}, {},
        why, {"score": 0.9, "success": True},
    )
    selection = {"score": 1.0, "reason": "no tool was needed"}
    record(
        "tool-use", lambda judge: m.ToolUseMetric(available_tools=[ToolCall(name="x")], model=judge, **plain),
        {"ToolSelectionScore": [selection]}, case, shown, {"selection": [selection]}, {"availableTools": ["x"]},
        "deepeval scores the arguments of no calls 0", {"score": 1.0, "success": True},
    )
    wrong = [{"index": 1, "reason": "r"}, {"index": 1, "reason": "again"}]
    longer, spoken = conversation(rng, 2, with_calls=False)
    record(
        "role-adherence", lambda judge: m.RoleAdherenceMetric(model=judge, **plain),
        {"OutOfCharacterResponseVerdicts": [{"verdicts": wrong}]}, longer, spoken, {"verdicts": [{"verdicts": wrong}]}, {},
        "deepeval counts an answer as often as the judge names it", {"score": 0.5, "success": True},
    )

    from mcp.types import CallToolResult, TextContent

    result = CallToolResult(content=[TextContent(type="text", text="Buy milk")], isError=False)
    turns = [
        Turn(role="user", content="What is in notes.txt?"),
        Turn(role="assistant", content="One moment.", mcp_tools_called=[MCPToolCall(name="read_file", args={"path": "notes.txt"}, result=result)]),
        Turn(role="assistant", content="Buy milk."),
    ]
    case = ConversationalTestCase(turns=turns, mcp_servers=servers())
    called = {"name": "read_file", "args": {"path": "notes.txt"}, "result": {"content": [{"type": "text", "text": "Buy milk"}]}}
    shown = {"mcp_servers": SERVERS, "turns": [
        {"role": "user", "content": "What is in notes.txt?"},
        {"role": "assistant", "content": "One moment.", "mcp_tools_called": [called]},
        {"role": "assistant", "content": "Buy milk."},
    ]}
    why = "deepeval crashes on a result that is text"
    record(
        "mcp-task-completion", lambda judge: m.MCPTaskCompletionMetric(model=judge, **plain), {"TaskScore": [high]}, case, shown,
        {"completion": [high]}, {}, why, {"score": 0.9, "success": True},
    )
    record(
        "multi-turn-mcp-use", lambda judge: m.MultiTurnMCPUseMetric(model=judge, **plain), {"ToolScore": [high], "ArgsScore": [high]},
        case, shown, {"choice": [high], "arguments": [high]}, {}, why, {"score": 0.9, "success": True},
    )

    text = {"input": "What is in notes.txt?", "actual_output": "It says: Buy milk"}
    unknown = {**CALL, "name": "read_the_file"}
    case = LLMTestCase(**text, mcp_servers=servers(), tools_called=[tool_call(unknown)])
    shown = {**text, "mcp_servers": SERVERS, "tools_called": [unknown]}
    record(
        "mcp-use", lambda judge: m.MCPUseMetric(model=judge, **plain), {"MCPPrimitivesScore": [high], "MCPArgsScore": [high]}, case,
        shown, {"choice": [high], "arguments": [high]}, {}, "deepeval does not check whether a tool exists",
        {"score": 0.0, "success": False},
    )
    case = LLMTestCase(**text, mcp_servers=servers(), tools_called=[tool_call()])
    shown = {**text, "mcp_servers": SERVERS, "tools_called": [CALL]}
    for score, ours in [(7.0, {"score": 1.0, "success": True}), (-1.0, {"score": 0.0, "success": False})]:
        odd = {"score": score, "reason": "r"}
        record(
            "mcp-use", lambda judge: m.MCPUseMetric(model=judge, **plain), {"MCPPrimitivesScore": [odd], "MCPArgsScore": [odd]},
            case, shown, {"choice": [odd], "arguments": [odd]}, {}, "deepeval does not limit scores to 0 to 1", ours,
        )
    empty = LLMTestCase(**text, mcp_servers=servers(), tools_called=[])
    shown = {**text, "mcp_servers": SERVERS, "tools_called": []}
    record(
        "argument-correctness", lambda judge: m.ArgumentCorrectnessMetric(model=judge, **plain), {}, empty, shown, {}, {},
        "deepeval scores no calls 1", {"score": None, "success": None},
    )
    for metric, cls in [("plan-quality", m.PlanQualityMetric), ("plan-adherence", m.PlanAdherenceMetric)]:
        record(
            metric, lambda judge: cls(model=judge, **plain), {"Task": [{"task": "t"}], "AgentPlan": [{"plan": []}]}, empty, shown,
            {"plan": [{"plan": []}]}, {}, "deepeval scores a missing plan 1", {"score": None, "success": None},
        )
    case, shown = single(input="What is it?", actual_output="It is this.")
    short = [{"verdicts": verdicts(["yes"])}]
    record(
        "answer-relevancy", lambda judge: m.AnswerRelevancyMetric(model=judge, **plain),
        {"Statements": [{"statements": ["a", "b"]}], "Verdicts": short}, case, shown,
        {"statements": [{"statements": ["a", "b"]}], "verdicts": short * 2}, {},
        "deepeval ignores statements without a verdict", {"score": None, "success": False, "error": "1 verdicts for 2 items"},
    )
    record(
        "g-eval", lambda judge: m.GEval(
            name="g", evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT], evaluation_steps=["look"], model=judge, **plain),
        {"ReasonScore": ["I think it is good."]}, case, shown, {"score": ["I think it is good."]},
        {"evaluationSteps": ["look"], "evaluationParams": ["actual_output"]},
        "one reply that is not JSON ends the whole run of deepeval", {"score": None, "success": False, "error": "not JSON"},
    )
    rubric = [Rubric(score_range=(0, 2), expected_outcome="x"), Rubric(score_range=(3, 5), expected_outcome="y")]
    talk = ConversationalTestCase(turns=[Turn(role="user", content="q"), Turn(role="assistant", content="a")])
    five = {"score": 5, "reason": "r"}
    record(
        "conversational-g-eval", lambda judge: m.ConversationalGEval(
            name="g", evaluation_params=[MultiTurnParams.CONTENT], evaluation_steps=["look"], rubric=rubric, model=judge, **plain),
        {"ReasonScore": [five]}, talk, {"turns": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]},
        {"score": [five]}, {"evaluationSteps": ["look"], "rubric": [
            {"scoreRange": [0, 2], "expectedOutcome": "x"}, {"scoreRange": [3, 5], "expectedOutcome": "y"}]},
        "deepeval scales by the rubric in GEval, and by 10 in ConversationalGEval", {"score": 1.0, "success": True},
    )
    case, shown = single(input="Summarize", actual_output="A summary")
    roots = [
        BinaryJudgementNode(criteria=text, children=[VerdictNode(verdict=True, score=10), VerdictNode(verdict=False, score=0)])
        for text in ["a", "b"]
    ]
    task = TaskNode(
        instructions="Extract", output_label="Parts", children=roots, evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT]
    )
    dag = DeepAcyclicGraph(root_nodes=[task])
    said = [{"verdict": False, "reason": "r"}, {"verdict": True, "reason": "r"}]
    record(
        "dag", lambda judge: m.DAGMetric(name="d", dag=dag, model=judge, **plain), {"TaskNodeOutput": [{"output": "x"}], "BinaryJudgementVerdict": said}, case, shown,
        {"task": [{"output": "x"}], "judgement": [{"verdict": "false", "reason": "r"}, {"verdict": "true", "reason": "r"}]}, {"dag": graph_of(dag)},
        "of several verdicts deepeval takes the last one", {"score": 0.0, "success": False},
    )


def main():
    for seed in range(30):
        rng = random.Random(seed)
        for group in [lists, contexts, summaries, grades, criteria, conversations, graphs]:
            group(rng)
    differences()
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        for line in OUT:
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(len(OUT), "cases,", sum("why" in line for line in OUT), "of them different", file=sys.stderr)


main()

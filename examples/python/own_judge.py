"""A judge and a metric written in Python. The judge here is a rule; put a call of your model in its place."""

import json

from quintain import evaluate
from quintain.metrics import BaseMetric, GEval
from quintain.test_case import LLMTestCase, LLMTestCaseParams


def judge(prompt: str) -> str:
    polite = "please" in prompt or "thank" in prompt
    return json.dumps({"score": 9 if polite else 3, "reason": "polite" if polite else "curt"})


class Short(BaseMetric):
    """Answers have at most eighty characters."""

    def measure(self, test_case: LLMTestCase) -> float:
        self.score = 1.0 if len(test_case.actual_output or "") <= 80 else 0.0
        self.reason = f"{len(test_case.actual_output or '')} characters"
        return self.score


polite = GEval(
    name="polite", criteria="The answer is polite", evaluation_steps=["Look for words of courtesy"],
    evaluation_params=[LLMTestCaseParams.ACTUAL_OUTPUT], model=judge,
)
cases = [LLMTestCase("Where is my order?", "It arrives today, thank you for waiting."), LLMTestCase("Where is my order?", "Wait.")]
print(evaluate(cases, [polite, Short]))

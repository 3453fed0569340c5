def get_score(scores, context):
    return {"pass": scores["one"] > scores["two"], "score": 0.6, "reason": f"python {sorted(scores)}"}

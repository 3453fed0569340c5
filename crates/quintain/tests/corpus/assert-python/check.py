def get_assert(output, context):
    return output == context["vars"]["text"]


def graded(output, context):
    word = context["config"]["word"]
    return {"pass": word in output, "score": 0.4, "reason": f"looked for {word}"}

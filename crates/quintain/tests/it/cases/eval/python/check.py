import time

time.sleep(0.05)


def get_assert(output, context):
    return {"pass": True, "score": 0.5, "reason": "half of it"}


def ends(output, context):
    return output[-1] in context["config"]["marks"]


def get_transform(output, context):
    return output[::-1]


def broken(output, context):
    raise ValueError("broken on purpose")

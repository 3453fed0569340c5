def get_var(name, prompt, vars):
    return {"output": "calls"}


def get_transform(output, context):
    return output.upper()


def get_assert(output, context):
    return context["vars"]["word"] in output


def broken(output, context):
    raise ValueError("broken on purpose")

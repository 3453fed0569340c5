def make(context):
    return f"{context['provider']['label']} says {{{{word}}}}"

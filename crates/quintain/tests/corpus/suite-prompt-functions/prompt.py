def make(context):
    return f"Python says {context['vars']['who']} {{{{who}}}}"

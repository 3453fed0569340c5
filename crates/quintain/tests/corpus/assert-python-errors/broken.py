def get_assert(output, context):
    raise ValueError("broken on purpose")

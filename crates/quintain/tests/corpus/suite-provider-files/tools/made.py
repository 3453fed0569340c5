def get_tools():
    return [{"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}]

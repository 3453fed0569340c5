def make():
    return [{"description": "from python", "vars": {"text": "py"}}]

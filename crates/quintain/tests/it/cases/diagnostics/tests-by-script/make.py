def tests(config):
    return [{"vars": {"a": config["word"]}}]

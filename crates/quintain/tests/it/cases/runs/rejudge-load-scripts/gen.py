from ran import ran


def make(config):
    ran("tests")
    question = "question {}".format
    return [
        {"description": question(n), "vars": {"question": question(n)}, "assert": [{"type": "contains", "value": "hello"}]}
        for n in range(config["count"])
    ]

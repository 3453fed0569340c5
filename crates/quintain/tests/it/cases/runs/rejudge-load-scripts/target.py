from ran import ran


def call_api(prompt, options, context):
    ran("target")
    return {"output": options["config"]["word"] + " " + prompt}

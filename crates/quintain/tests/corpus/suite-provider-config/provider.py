import json
def call_api(prompt, options, context):
    return {"output": json.dumps(options["config"].get(prompt), sort_keys=True)}

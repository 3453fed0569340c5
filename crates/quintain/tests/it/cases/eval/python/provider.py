async def call_api(prompt, options, context):
    print("this must not get in the way")
    if "fail" in prompt:
        return {"error": "will not " + context["vars"]["word"]}
    return {"output": prompt + options["config"]["end"], "cost": 0.5}

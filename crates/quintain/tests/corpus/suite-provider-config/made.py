def get_config():
    return {"made": "by get_config"}

def other():
    return ["other"]

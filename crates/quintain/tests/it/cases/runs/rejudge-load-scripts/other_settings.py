from ran import ran


def get_config():
    ran("other settings")
    return "hello"

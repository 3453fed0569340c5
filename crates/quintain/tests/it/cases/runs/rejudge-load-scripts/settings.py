from ran import ran


def get_config():
    ran("settings")
    return "hello"

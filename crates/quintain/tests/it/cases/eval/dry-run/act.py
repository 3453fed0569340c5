"""Leaves a mark wherever it is run."""
open("acted", "a").write("x")


def generate_tests(config=None):
    return []


def get_config():
    return []

"""Records that a script ran."""
import os

FOLDER = os.path.dirname(os.path.abspath(__file__))


def ran(name):
    with open(os.path.join(FOLDER, "ran"), "a", encoding="utf-8") as file:
        file.write(name + "\n")

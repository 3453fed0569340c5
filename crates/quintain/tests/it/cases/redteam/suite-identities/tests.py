"""Prints as whom tests are sent and what they must not say, and what is left with its command."""

import re

target = ""
for line in open("regression.yaml", encoding="utf-8"):
    if "F-" in line and "description:" in line:
        print(re.search(r"F-\w+ [\w-]+: \S+", line)[0], end=": ")
    elif re.match(r"      - shop", line):
        target = line.strip("- \n")
    elif "type: not-says" in line:
        print("not-says as", target.split()[-1])
    elif line.startswith("#   quintain replay"):
        print(re.sub(r"--run \S+", "--run RUN", line.strip("# \n")))

"""Puts the patched twin in the place of the vulnerable one."""

text = open("regression.yaml", encoding="utf-8").read()
open("regression.yaml", "w", encoding="utf-8").write(text.replace("--vulnerable", "--patched"))

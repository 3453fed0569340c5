"""Whether the same seed wrote the same tests; writes the suite for the server that is mended."""

first, second = (open(name, encoding="utf-8").read() for name in ("redteam.yaml", "again/redteam.yaml"))
tests = [text[text.index("\ntests:") :] for text in (first, second)]
print("the same tests" if tests[0] == tests[1] else "other tests")
print(*[line for line in first.splitlines() if line.startswith("#")], sep="\n")
open("mended.yaml", "w", encoding="utf-8").write(first.replace("--vulnerable", "--patched"))

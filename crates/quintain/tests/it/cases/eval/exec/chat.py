import json
import sys

given, prompt, options, context = sys.argv[1:]
if prompt == "fail":
    sys.exit("cannot do that")
if prompt == "mutter":
    print("only a murmur", file=sys.stderr)
elif prompt == "colour":
    print("\x1b[31mred\x1b[0m")
else:
    mood, word = json.loads(options)["config"]["mood"], json.loads(context)["vars"]["word"]
    print(given, prompt, mood, word, sep="|")

"""The named scores of the run."""
import json
for prompt in json.load(open("r.json"))["results"]["prompts"]:
    print(prompt["metrics"]["namedScores"], prompt["metrics"]["namedScoresCount"])

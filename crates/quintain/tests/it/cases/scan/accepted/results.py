"""Prints what code scanning reads of a log."""
import json
import sys

run = json.load(open(sys.argv[1]))["runs"][0]
rules = run["tool"]["driver"]["rules"]
for result in run["results"]:
    place = result["locations"][0]
    where = place["physicalLocation"]
    accepted = [one["justification"] for one in result["suppressions"]]
    print(result["level"], rules[result["ruleIndex"]]["id"], where["artifactLocation"]["uri"], where["region"],
          place["logicalLocations"][0]["fullyQualifiedName"], [one["id"] for one in result["taxa"]], accepted)
for taxonomy in run["taxonomies"]:
    print(taxonomy["name"], [one["id"] for one in taxonomy["taxa"]])

"""What each report says about the finding of the trace."""
import csv, json, re
import xml.etree.ElementTree as tree

found = json.load(open("r.json"))["results"][0]["findings"]
print("json", [(one["check"], one["severity"], one["call"], one["pointer"]) for one in found])
print("jsonl", ["args.schema" in line for line in open("r.jsonl")])
print("csv", [(row["Description"], row["Grader Reason"]) for row in csv.DictReader(open("r.csv"))])
for name in ["r.md", "r.txt", "r.yaml"]:
    print(name, "args.schema" in open(name).read())
run = json.load(open("r.sarif"))["runs"][0]
print("sarif", [(one["ruleId"], one["level"]) for one in run["results"]])
suite = tree.parse("r.junit.xml").getroot()
print("junit", suite.get("tests"), suite.get("failures"), [one.get("name") for one in suite.iter("testcase")])
page = open("r.html").read()
detail = json.loads(re.search(r'id="d0">(.*?)</script>', page)[1])
for part in detail["conversation"]["parts"]:
    what = part["text"] if part["kind"] == "message" else "call " + part["name"]
    print("html", what, [one["check"] for one in part["findings"]["list"]])

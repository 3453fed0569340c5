"""What the page says about the choice of tools, and where the first failed trace has its findings."""
import json, re
page = open("report.html").read()
print(re.search(r'aria-label="(Confusion matrix: [^"]*)"', page)[1])
print(re.search(r'<p class="figure">(.*?)</p>', page)[1])
detail = json.loads(re.search(r'id="d1">(.*?)</script>', page)[1])
for part in detail["conversation"]["parts"]:
    what = part["text"] if part["kind"] == "message" else "call " + part["name"]
    print(what, [finding["check"] for finding in part["findings"]["list"]])

"""Whether a report in HTML is whole, and the statuses of its rows."""
import json, re, sys
text = open(sys.argv[1]).read()
rows = re.search(r'id="rows">(.*?)</script>', text, re.S)
print(text.rstrip().endswith("</html>"), [row[:5] for row in json.loads(rows[1])])

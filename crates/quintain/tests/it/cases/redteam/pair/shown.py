"""Prints the payload and the reproduction of every finding."""

import json

for finding in json.load(open("report.json"))["findings"]:
    print(finding["title"])
    print(finding["proofs"][0]["payload"], "|", finding["reproduce"])
    sent = [exchange["sent"]["arguments"]["status"] for exchange in finding["proofs"][0]["attempt"]["exchanges"]]
    print("compared:", sent)

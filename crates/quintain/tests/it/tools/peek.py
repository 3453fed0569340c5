"""Prints which server saw which credentials."""

import json
import sys
import urllib.request

for request in json.load(urllib.request.urlopen(sys.argv[1])):
    print(request["server"], request["http"], request["method"], request["authorization"])

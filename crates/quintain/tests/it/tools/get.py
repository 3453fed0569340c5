"""get.py URL: prints what is there."""

import sys
import urllib.request

print(urllib.request.urlopen(sys.argv[1]).read().decode(), end="")

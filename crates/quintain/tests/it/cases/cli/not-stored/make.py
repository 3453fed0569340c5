import json
import os

text = os.urandom(3_000_000).hex()
print(json.dumps({"id": "a", "steps": [{"message": {"role": "user", "text": text}}]}))

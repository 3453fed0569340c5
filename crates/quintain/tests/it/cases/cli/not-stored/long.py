import os

print(os.urandom(3_000_000).hex())

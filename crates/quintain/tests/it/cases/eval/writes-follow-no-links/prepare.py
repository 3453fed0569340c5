import os

# What a stranger packs beside a suite: links to files and folders of the user.
os.mkdir("theirs")
for name in ("profile", "keys.json"):
    with open(f"theirs/{name}", "w") as file:
        file.write("untouched\n")
os.symlink("../theirs/profile", "suite/kept.snap")
os.symlink("../theirs/new", "suite/dangling.snap")
os.symlink("../theirs", "suite/sub")
os.symlink("../theirs/keys.json", "suite/report.json")

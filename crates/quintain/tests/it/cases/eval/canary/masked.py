"""The whole case as it is stored, searched for the secret."""
import subprocess
shown = subprocess.run(["quintain", "runs", "show", "--case", "0"], capture_output=True, text=True, check=True).stdout
print("canary-77d1c0ffee" in shown, "***" in shown)

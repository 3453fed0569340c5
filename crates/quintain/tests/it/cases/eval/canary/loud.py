"""A run with everything logged: what it says is searched here, for its times differ."""
import subprocess
done = subprocess.run(["quintain", "-vv", "eval", "--no-write"], capture_output=True, text=True)
said = done.stdout + done.stderr
print(done.returncode, "canary-77d1c0ffee" in said, "***" in said)

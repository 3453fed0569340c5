# Reads requests from stdin, one JSON object per line, and writes one answer per line.
import asyncio, contextlib, importlib.util, inspect, io, json, os, runpy, sys, traceback, types

requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
# User code must not read our requests or print into our answers.
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)
sys.argv = [""]
sys.dont_write_bytecode = True
files, programs = {}, {}
here = None


def enter(folder):
    """Makes imports search the folder of this file instead of that of the previous one."""
    global here
    if folder == here:
        return
    if here is not None:
        sys.path.remove(here)
        for name, module in list(sys.modules.items()):
            if os.path.dirname(getattr(module, "__file__", None) or "") == here:
                del sys.modules[name]
    sys.path.insert(0, folder)
    here = folder


def load_file(path):
    enter(os.path.dirname(path))
    if path not in files:
        name = os.path.basename(path).rsplit(".", 1)[0]
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        files[path] = module
    return files[path]


def load_text(text):
    if text not in programs:
        programs[text] = compile(text, "<inline>", "exec")
    module = types.ModuleType("inline")
    exec(programs[text], module.__dict__)
    return module


def run_file(path, arguments):
    enter(os.path.dirname(path))
    sys.argv = [path] + [json.dumps(argument) for argument in arguments]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(path, run_name="__main__")
    return printed.getvalue().rstrip("\n")


def call(request):
    path = request.get("path")
    if path is not None and not request["function"]:
        return run_file(path, request["arguments"])
    found = load_text(request["text"]) if path is None else load_file(path)
    for name in request["function"].split("."):
        found = getattr(found, name)
    value = found(*request["arguments"])
    if inspect.isawaitable(value):
        async def wait():
            return await value

        value = asyncio.run(wait())
    return value


def failure(error):
    last = "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()
    trace = error.__traceback__
    # Skip the frames of this program.
    while trace and trace.tb_frame.f_code.co_filename == "<string>":
        trace = trace.tb_next
    return {"error": last[-1] if last else "Error", "trace": "".join(traceback.format_tb(trace, 50))}


for line in requests:
    request = json.loads(line)
    try:
        answer = json.dumps({"value": call(request)}, allow_nan=False)
    except (Exception, SystemExit) as error:
        answer = json.dumps(failure(error))
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except Exception:
        pass
    answers.write(answer + "\n")
    answers.flush()

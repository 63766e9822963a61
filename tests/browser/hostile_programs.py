"""Programs that harm the interpreter, the library, the worker or the page that runs them."""

from __future__ import annotations

# What a program does to Python, NumPy and the library.
LIBRARY = {
    "no modules": "import sys\nsys.modules.clear()",
    "playgrad's modules gone": (
        "import sys\nfor name in list(sys.modules):\n"
        "    if name.startswith(('playgrad', 'numpy')): del sys.modules[name]"
    ),
    "no import": "import builtins\nbuiltins.__import__ = None",
    "an import that fails": (
        "import builtins\ndef fail(*a, **k): raise ImportError('never')\nbuiltins.__import__ = fail"
    ),
    "no builtins": "import builtins\nfor name in list(vars(builtins)): delattr(builtins, name)",
    "other builtins": (
        "import builtins\nbuiltins.len = lambda x: 0\nbuiltins.isinstance = lambda *a: False\n"
        "builtins.range = builtins.open = builtins.print = None"
    ),
    "no exceptions": "import builtins\nbuiltins.KeyboardInterrupt = builtins.BaseException = int",
    "no import paths": (
        "import sys\nsys.path.clear()\nsys.meta_path.clear()\nsys.path_hooks.clear()"
    ),
    "other NumPy": (
        "import numpy as np\nfor name in ('array', 'asarray', 'zeros', 'empty', 'frombuffer'):\n"
        "    setattr(np, name, lambda *a, **k: None)\nnp.float32 = int"
    ),
    "random numbers": "import numpy as np\nnp.random.default_rng = lambda *a: None",
    "other playgrad": (
        "import playgrad as pg\nfrom playgrad import nn\n"
        "pg.Sequential = nn.Dense = pg.Session = None\n"
        "from playgrad.runtime import session\nsession.Session.run = lambda *a, **k: 1 / 0"
    ),
    "other controller": (
        "from playgrad.page import controller\ncontroller.handle_pending = None\n"
        "controller.Controller.run = controller.Controller.serve = lambda *a: 1 / 0"
    ),
    "other hooks": "from playgrad.runtime.hooks import set_hooks\nset_hooks(None)",
    "no operations": (
        "from playgrad.graph import opdef\nfor value in list(vars(opdef).values()):\n"
        "    if isinstance(value, dict) and '__name__' not in value: value.clear()"
    ),
    "devices destroyed": "from playgrad.devices import registry\nregistry.close_gpus()",
    "files deleted": (
        "import shutil, playgrad, numpy, os\n"
        "for module in (playgrad, numpy, os):\n"
        "    shutil.rmtree(os.path.dirname(module.__file__), ignore_errors=True)"
    ),
    "files overwritten": (
        "import pathlib, playgrad\n"
        "for path in pathlib.Path(playgrad.__file__).parent.rglob('*.py'): path.write_text('1 / 0')"
    ),
    "files changed in place": (
        "import pathlib, playgrad\n"
        "for path in pathlib.Path(playgrad.__file__).parent.rglob('*.py'):\n"
        "    if path.stat().st_size > 3: path.open('r+b').write(b'1/0')"
    ),
    "disk full": ("data = bytes(1 << 24)\nfor i in range(20): open(f'/tmp/{i}', 'wb').write(data)"),
}

# What it does to the streams, the interpreter's settings and its end.
INTERPRETER = {
    "stdout closed": "import sys\nsys.stdout.close()\nsys.stderr.close()",
    "stdout None": "import sys\nsys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = None",
    "stdout replaced": (
        "import sys\nclass Bad:\n    def __getattr__(self, name): raise RuntimeError(name)\n"
        "sys.stdout = sys.stderr = Bad()"
    ),
    "descriptors closed": "import os\nfor n in range(3): os.close(n)",
    "os._exit": "import os\nos._exit(3)",
    "abort": "import os\nos.abort()",
    "kill": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "sys.exit": "import sys\nsys.exit(0)",
    "sys.exit with text": "import sys\nsys.exit('over')",
    "sys.exit with an object": (
        "import sys\nclass Bad:\n    def __bool__(self): raise SystemExit(self)\nsys.exit(Bad())"
    ),
    "an exit in __del__": (
        "import gc\nclass Bad:\n    def __del__(self): raise SystemExit\nBad().me = Bad()\n"
        "left = [Bad() for _ in range(100)]"
    ),
    "__del__ that lives again": (
        "alive = []\nclass Bad:\n    def __del__(self): alive.append(self); Bad()\nBad()"
    ),
    "no collection": "import gc\ngc.disable()\ngc.set_threshold(0)\ngc.freeze()",
    "a collection callback": "import gc\ngc.callbacks.append(lambda *a: 1 / 0)",
    "no recursion": "import sys\nsys.setrecursionlimit(60)",
    "deep recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef f(n): return f(n + 1)\nf(0)",
    "a deep list": "x = []\nfor _ in range(10**6): x = [x]\nrepr(x)",
    "a profile function": "import sys\nsys.setprofile(lambda *a: 1 / 0)",
    "a trace function": "import sys\nsys.settrace(lambda *a: 1 / 0)\nprint(1)",
    "monitoring": (
        "import sys\nm = sys.monitoring\nm.use_tool_id(1, 'x')\n"
        "m.register_callback(1, m.events.PY_START, lambda *a: 1 / 0)\n"
        "m.set_events(1, m.events.PY_START)"
    ),
    "an audit hook": "import sys\ndef no(*a): raise RuntimeError('no')\nsys.addaudithook(no)",
    "excepthooks": (
        "import sys\nsys.excepthook = sys.unraisablehook = lambda *a: 1 / 0\nraise ValueError('x')"
    ),
    "atexit": "import atexit\natexit.register(lambda: 1 / 0)",
    "signals ignored": (
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    ),
    "signals handled": (
        "import signal\nsignal.signal(signal.SIGINT, lambda *a: None)\nwhile True: pass"
    ),
    "faulthandler": "import faulthandler\nfaulthandler.enable()\nfaulthandler._sigabrt()",
    "ctypes": "import ctypes\nctypes.string_at(0xFFFFFF00)",
    "ctypes writes": (
        "import ctypes, sys\nctypes.memset(id(None), 0xFF, 64)\nctypes.memset(id(int), 0xFF, 400)"
    ),
    "reference counts": (
        "import ctypes\nfor _ in range(10**5): ctypes.pythonapi.Py_DecRef(ctypes.py_object(()))"
    ),
    "threads": "import threading\nthreading.Thread(target=print).start()",
    "subprocess": "import subprocess\nsubprocess.run(['ls'])",
    "tasks": (
        "import asyncio\nasync def again():\n    while True:\n        await asyncio.sleep(0)\n"
        "        raise_later = asyncio.ensure_future(bad())\n"
        "async def bad(): raise ValueError('left behind')\nasyncio.ensure_future(again())"
    ),
    "all memory": "held = []\nwhile True: held.append(bytearray(1 << 26))",
    "all memory in small parts": "held = []\nwhile True: held.append([None] * 1000)",
    "a loop that catches the stop": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    ),
    "a loop in the C of NumPy": "import numpy as np\nx = np.ones((4000, 4000))\nwhile True: x @ x",
    "a big power": "x = 3 ** (10 ** 9)",
    "a slow pattern": "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
    "a long sleep": "import time\ntime.sleep(10**6)",
    "an error that cannot be told": (
        "class Bad(Exception):\n    def __str__(self): raise self\n"
        "    __repr__ = __str__\nraise Bad"
    ),
    "an error without end": (
        "error = ValueError('0')\nfor i in range(3000):\n    new = ValueError(str(i))\n"
        "    new.__cause__ = error\n    error = new\nraise error"
    ),
    "an attribute that recurses": (
        "class Bad(Exception):\n    def __getattribute__(self, name): return getattr(self, name)\n"
        "raise Bad"
    ),
    "lone surrogates": "print('\\ud800')\nraise ValueError('\\udfff' * 10)",
}

# What it does to the engine's Python side.
ENGINE = {
    "other memory": ("import pyodide_js\npyodide_js._module.HEAPU8.fill(0xFF, 1 << 20, 1 << 25)"),
    "no host": "import pyodide_js\npyodide_js.unregisterJsModule('playgrad_host')",
    "bad device calls": (
        "import playgrad_host as host\nfrom playgrad.devices import registry\nregistry.gpu(0)\n"
        "for call in ('load', 'execute', 'unload', 'x', '__proto__', 'constructor', 'close'):\n"
        "    for text in ('{}', '[', 'null', '{\"program\": -1, \"reads\": 1}'):\n"
        "        host.post_device(0, call, 1, text)"
    ),
    "tunings that are none": "import playgrad_host\nplaygrad_host.remember_tunings('{\"a\": [')",
    "events that are none": (
        "import playgrad_host as host\n"
        "for event in ({}, {'kind': 'graph'}, {'kind': 1}, {'kind': 'status', 'state': None},\n"
        "              {'kind': 'error'}, {'kind': 'reply', 'id': 3}, {'kind': 'checkpoint'}):\n"
        "    host.emit(event)"
    ),
}

# JavaScript that it runs in its worker.
WORKER = {
    "forged messages": """
for (const kind of ["ready", "crash", "done", "status", "error", "device_worker", "reply", "x"])
  postMessage({kind});
for (const value of [null, 1, "x"]) postMessage(value);
""",
    "a million messages": "for (let i = 0; i < 1e6; i++) postMessage({kind: 1})",
    "a huge message": "postMessage({kind: 'stdout', text: 'x'.repeat(1e8)})",
    "the engine's port": """
const post = MessagePort.prototype.postMessage;
MessagePort.prototype.postMessage = function () {
  MessagePort.prototype.postMessage = post;
  const forged = [
    {kind: "status", state: "flying"}, {kind: "progress"}, {kind: "graph", graph: 1},
    {kind: "reply", id: 1}, {kind: "tunings", text: "{"}, {kind: "ready"}, {kind: "__proto__"},
    {kind: "progress", epoch: 1, step: 1e99, total_steps: 1, points: [[NaN, 1, null]],
     steps_per_second: NaN, seconds: -1, eta_seconds: null},
    {kind: "device_worker", device: "gpu:99", state: "starting", channel: 12345},
    {kind: "device_worker", device: "../x", state: "starting", channel: 0},
    {kind: "constructor"}, 7, null, "x",
  ];
  for (const each of forged) post.call(this, each);
  this.close();
};
setTimeout(() => 0);
""",
    "a closed worker": "self.close()",
    "a worker closed later": "setTimeout(() => close())",
    "an uncaught error": "setTimeout(() => { throw new Error('mine'); })",
    "a rejected promise": "Promise.reject(new Error('mine'))",
    "no Atomics": "for (const key of Object.getOwnPropertyNames(Atomics)) Atomics[key] = () => 0",
    "no JSON": "JSON.parse = JSON.stringify = () => { throw 1; }",
    "no methods": """
Array.prototype.map = Object.prototype.toString = Uint8Array.prototype.set = null;
""",
    "a polluted prototype": "Object.prototype.kind = 'crash'; Object.prototype.get = () => 1",
    "no globals": """
for (const key of Object.getOwnPropertyNames(self)) { try { self[key] = undefined; } catch {} }
""",
    "timers": "for (let i = 0; i < 1e5; i++) setInterval(() => {})",
    "a timer that never ends": "setTimeout(() => { for (;;); })",
    "microtasks": "const again = () => queueMicrotask(again); setTimeout(again)",
    "a loop in JavaScript": "for (;;);",
    "a sleep in JavaScript": "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
    "workers": "for (let i = 0; i < 20; i++) new Worker('data:,for(;;);')",
    "an error that cannot be read": "throw {get message() { throw this; }}",
    "memory outside the heap": "const a = []; for (;;) a.push(new ArrayBuffer(1 << 28))",
    "the heap": "const a = []; for (;;) a.push({a: [1, 2, 3]})",
    "requests": "for (let i = 0; i < 2000; i++) fetch('/healthz?' + i).catch(() => 0)",
    "requests that change": """
for (const method of ["PUT", "POST", "DELETE"])
  fetch("/data/mnist/train-labels", {method, body: "x"}).catch(() => 0);
""",
}

# JavaScript that changes what outlives the worker.
BROWSER = {
    "locks": """(async () => {
  const { held, pending } = await navigator.locks.query();
  for (const name of [...held, ...pending, {name: "playgrad.sessions"}].map(({ name }) => name))
    navigator.locks.request(name, () => new Promise(() => {}));
})()""",
    "stolen locks": """(async () => {
  const { held } = await navigator.locks.query();
  const keep = () => new Promise(() => {});
  for (const { name } of held)
    navigator.locks.request(name, {steal: true}, keep).catch(() => 0);
})()""",
    "no database": """(async () => {
  for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name);
})()""",
    "an empty database": """(async () => {
  for (const { name } of await indexedDB.databases()) {
    indexedDB.open(name).onsuccess = ({ target: { result } }) => {
      for (const store of result.objectStoreNames)
        result.transaction(store, "readwrite").objectStore(store).clear();
    };
  }
})()""",
    "a database of a later version": """(async () => {
  for (const { name, version } of await indexedDB.databases())
    indexedDB.open(name, version + 1);
})()""",
    "caches": """(async () => {
  for (const key of await caches.keys()) await caches.delete(key);
  const cache = await caches.open("x");
  await cache.put("/bundle/playgrad.zip", new Response("no zip"));
})()""",
    "the browser's storage": """(async () => {
  const root = await navigator.storage.getDirectory();
  const file = await root.getFileHandle("x", {create: true});
  const stream = await file.createWritable();
  for (let i = 0; i < 8; i++) await stream.write(new Uint8Array(1 << 25));
  await stream.close();
})()""",
}


def in_javascript(source: str) -> str:
    """Return a program that runs ``source`` in its worker."""
    return f"from pyodide.code import run_js\nrun_js({source!r})\nprint('done')"


PROGRAMS = LIBRARY | INTERPRETER | ENGINE
PROGRAMS |= {name: in_javascript(source) for name, source in (WORKER | BROWSER).items()}

"""The browser host: Plans run by the page's device workers, and the page itself.

The only package of the library that imports JavaScript. `playgrad_host` is the module that
`static/engine/python-host.js` registers in Pyodide. Its calls are synchronous: this Python runs in
a worker, which sleeps until the device worker has answered. To use several devices at once, begin
work on each without waiting, then wait for any answer.
"""

from playgrad.devices._browser.free_memory import MEMORY_OF, free_memory
from playgrad.devices._browser.gpus import (
    BrowserHost,
    BrowserSnapshot,
    forget_adapters,
    list_adapters,
    open,
)
from playgrad.devices._browser.page import (
    Request,
    emit,
    expect_interrupts,
    fetch_data,
    fetch_later_library,
    poll_mailbox,
    recall_tunings,
    remember_tunings,
    sleep,
    stop_requested,
    wait_mailbox,
)
from playgrad.devices._browser.processors import connect_processor
from playgrad.devices._browser.workers import most_devices, start, wait_for_answer

__all__ = [
    "MEMORY_OF",
    "BrowserHost",
    "BrowserSnapshot",
    "Request",
    "connect_processor",
    "emit",
    "expect_interrupts",
    "fetch_data",
    "fetch_later_library",
    "free_memory",
    "forget_adapters",
    "list_adapters",
    "most_devices",
    "open",
    "poll_mailbox",
    "recall_tunings",
    "remember_tunings",
    "sleep",
    "start",
    "stop_requested",
    "wait_for_answer",
    "wait_mailbox",
]

"""The browser host: Plans run by the page's device workers, and the page itself.

The only package of the library that imports JavaScript. `playgrad_host` is the module that
`static/engine/python-host.js` registers in Pyodide; a call of it is synchronous, because this
Python runs in a worker that sleeps until the device worker has answered. What several devices are
to do at the same time is begun without waiting, and then any answer is waited for.
"""

from playgrad.devices._browser.gpus import BrowserHost, BrowserSnapshot, list_adapters, open
from playgrad.devices._browser.links import most_devices, start, wait_for_answer
from playgrad.devices._browser.page import (
    Request,
    emit,
    fetch_data,
    poll_mailbox,
    recall_tunings,
    remember_tunings,
    wait_mailbox,
)
from playgrad.devices._browser.processors import connect_processor
from playgrad.devices._browser.stops import sleep, stop_requested

__all__ = [
    "BrowserHost",
    "Request",
    "BrowserSnapshot",
    "connect_processor",
    "emit",
    "fetch_data",
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

"""Signals to the command line: one ends the process with one line, from the first moment on.

Importing the library takes most of a second, in which Ctrl+C would end in a traceback from
anywhere in NumPy. So the package checks at once whether the command line is importing it, and
only then installs handlers; in any other program, ``import playgrad`` changes none.

The exit code is that of a shell: 128 plus the number of the signal, 130 for Ctrl+C.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # ``signal`` takes time to import
import os
import sys

_SCRIPTS = ("playgrad", "playgrad.exe", "playgrad-script.py")
_MODULES = ("playgrad", "playgrad.cli")
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_INTERRUPT = 2
"""The number of SIGINT, Ctrl+C."""
_IN_A_ROW = 2.0
"""A second signal within this many seconds ends the process where it is."""
_LINE = b"playgrad: stopped\n"


class Terminated(BaseException):
    """The process was asked to end by a signal other than Ctrl+C."""


class _State:
    """The reaction to a signal. (``enum`` would take time to import.)"""

    STARTING = "end the process: nothing has to be tidied up"
    WORKING = "raise an exception"
    TELLING = "ignore it: the line is being written, and the process ends after it"
    TOLD = "end the process without another line"


class Signals:
    """The handlers of this process.

    Attributes:
        received: the number of the last signal; 0 if there was none.
        pending: whether a signal has come since `hold`.
    """

    def __init__(self) -> None:
        self.installed = False
        self.received = 0
        self.pending = False
        self._is_held = False
        self._received_at = 0.0
        self._state = _State.STARTING

    def install(self) -> None:
        """Handle SIGINT, SIGTERM and SIGHUP, unless whoever started this process ignores them."""
        if self.installed:
            return
        self.installed = True
        for name in _NAMES:
            number = getattr(_signal, name, None)  # Windows has no SIGHUP
            if number is not None and _signal.getsignal(number) != _signal.SIG_IGN:
                _signal.signal(number, self._handle)
        sys.unraisablehook = self._unraisable

    def uninstall(self) -> None:
        """Ignore signals: the work is done, and nothing but Python's own end is left."""
        for name in _NAMES:
            if hasattr(_signal, name):
                _signal.signal(getattr(_signal, name), _signal.SIG_IGN)

    @property
    def exit_code(self) -> int:
        """The exit code of a process that was stopped: 130 unless another signal was received."""
        return 128 + (self.received or _INTERRUPT)

    def begin_work(self) -> None:
        """From now on a signal raises KeyboardInterrupt or Terminated."""
        self._state = _State.WORKING

    def end_work(self) -> None:
        """From now on a signal ends the process at once."""
        self._state = _State.STARTING

    def hold(self) -> None:
        """From now on a first signal only sets ``pending``: long work polls it often.

        Work that is interrupted at any moment leaves nothing that could be saved.
        """
        self._is_held = True

    def release(self, has_stopped: bool) -> None:
        """From now on a signal raises an exception again. Raise that of a pending one.

        Args:
            has_stopped: whether the work has ended with KeyboardInterrupt because of it.
        """
        was_pending, self._is_held, self.pending = self.pending, False, False
        if was_pending and not (has_stopped and self.received == _INTERRUPT):
            self._raise(self.received)

    def begin_telling(self) -> None:
        """Ignore signals until `told` is called."""
        self._state = _State.TELLING

    def told(self) -> None:
        """The user knows that the process ends."""
        self._state = _State.TOLD

    def _handle(self, number: int, frame: object) -> None:
        import time

        if self._state == _State.TELLING:
            return
        now = time.monotonic()
        again = self.received and now - self._received_at < _IN_A_ROW
        self.received, self._received_at = number, now
        if self._state != _State.WORKING or again:
            self._end()
        if self._is_held:
            self.pending = True
        else:
            self._raise(number)

    def _raise(self, number: int) -> None:
        raise KeyboardInterrupt if number == _INTERRUPT else Terminated(number)

    def _end(self) -> None:
        if self._state != _State.TOLD:
            try:  # noqa: SIM105 - contextlib takes time to import
                os.write(2, _LINE)
            except OSError:  # stderr is closed
                pass
        os._exit(self.exit_code)

    def _unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Raise an interruption again if it was raised where nobody can catch it.

        Python would print it and continue, for example in ``__del__``.
        """
        if not isinstance(unraisable.exc_value, (KeyboardInterrupt, Terminated)):
            sys.__unraisablehook__(unraisable)
            return
        import _thread

        _thread.start_new_thread(self._raise_again, ())

    def _raise_again(self) -> None:
        import time

        time.sleep(0.02)  # until the main thread has left the place
        number, self.received = self.received, 0
        os.kill(os.getpid(), number or _INTERRUPT)


signals = Signals()


def guard_command_line() -> None:
    """Install the handlers if this process is ``playgrad`` or ``python -m playgrad``."""
    if _is_command_line():
        signals.install()


def _is_command_line() -> bool:
    program = sys.argv[0] if sys.argv else ""
    if program != "-m":
        return os.path.basename(program) in _SCRIPTS
    # Python is looking for the module to run.
    for option, module in zip(sys.orig_argv[1:], sys.orig_argv[2:], strict=False):
        if option.startswith("-") and option.endswith("m"):
            return module in _MODULES
    return False

"""Starting processes on several machines, by Open MPI's or MPICH's launcher."""

from __future__ import annotations

import importlib.util
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from playgrad.cluster.hosts import SSH, HostSlots, hosts_text
from playgrad.cluster.link import ADDRESS, HOSTS, TERMINAL, TOKEN
from playgrad.errors import PlaygradError

FORWARDED = (
    "PYTHONPATH",
    "PLAYGRAD_DEVICE",
    "PLAYGRAD_SIMD",
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
)
"""Variables that members get, if they are set here."""
_EAGER_VARIABLE = "OMPI_MCA_btl_tcp_eager_limit"
EAGER = (1 << 20) + (1 << 12)
"""The most bytes, with a header, that Open MPI sends over TCP without asking the receiver; 64 KiB
by default. The answer waits behind what the receiver itself is sending, so that members which send
to each other would take turns; and as both ask and answer only while they do not compute, the
tensors of a pipeline would wait for the end of the next pass."""
_INSTALL = "pip install 'playgrad[cluster]'"


def launcher() -> tuple[str, str]:
    """Return the launcher, and whose it is: "openmpi" or "mpich".

    Raises:
        PlaygradError: there is none, or mpi4py is missing.
    """
    if importlib.util.find_spec("mpi4py") is None:
        raise PlaygradError("--hosts needs mpi4py, which is not installed.", hint=f"{_INSTALL}.")
    folder = Path(sys.executable).parent
    path = f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"
    # Both have an `mpirun`; these names only one.
    for name, mark, kind in (
        ("mpirun", "ompi_info", "openmpi"),
        ("mpiexec.hydra", "mpiexec.hydra", "mpich"),
    ):
        found = shutil.which(name, path=path)
        if found is not None and os.path.exists(os.path.join(os.path.dirname(found), mark)):
            return found, kind
    raise PlaygradError("--hosts needs mpirun of Open MPI or MPICH.", hint=f"{_INSTALL}.")


class Launch:
    """The launcher at work: starts ``command`` as often as ``hosts`` say.

    Args:
        shell: what takes the place of ``ssh``; None for that.
        address, token: of the supervisor, for the members' environment.
    """

    def __init__(
        self,
        hosts: Sequence[HostSlots],
        command: Sequence[str],
        shell: str | None,
        address: str,
        token: str,
    ) -> None:
        program, kind = launcher()
        count = sum(host.slots for host in hosts)
        added = {
            ADDRESS: address,
            TOKEN: token,
            HOSTS: hosts_text(hosts),
            TERMINAL: "1" if sys.stderr.isatty() else "",
            # Sets of strings have the same order at all members.
            "PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED") or str(secrets.randbelow(1 << 32)),
        }
        if all(host.is_local for host in hosts):
            hosts = [HostSlots("localhost", count)]
        names = [*added, *(name for name in FORWARDED if name in os.environ)]
        line = (_openmpi if kind == "openmpi" else _mpich)(program, hosts, count, shell, names)
        environment = {**os.environ, **added}
        if hasattr(os, "geteuid") and os.geteuid() == 0:  # in containers
            for name in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"):
                environment[name] = environment[f"{name}_CONFIRM"] = "1"
        self._is_over = False
        self._process = subprocess.Popen(
            [*line, *command],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # a signal from the terminal comes to the supervisor alone
        )
        self._forwarding = threading.Thread(target=self._forward, daemon=True)
        self._forwarding.start()

    @property
    def has_ended(self) -> bool:
        """Whether the launcher has ended, and with it all that it had started."""
        return self._process.poll() is not None

    def end(self, at_once: bool = False) -> None:
        """End the launcher and all that it has started.

        Args:
            at_once: it is not about to end by itself, as a member is lost: the user wants to know.
        """
        self._is_over = True
        steps = [(None, 1.0), (signal.SIGTERM, 2.0), (signal.SIGKILL, 5.0)]
        if at_once:
            steps = [(signal.SIGTERM, 1.0), (signal.SIGKILL, 5.0)]
        for number, seconds in steps:
            if number is not None:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
                break
        for pid in _of_session(self._process.pid):  # such as an ssh that waits for a connection
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        self._forwarding.join(1.0)

    def _forward(self) -> None:
        """Write what the launcher says to standard error, until its end is known."""
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                if not self._is_over:
                    sys.stderr.write(line.decode("utf-8", "replace"))
                    sys.stderr.flush()


def _of_session(number: int) -> list[int]:
    """Return the processes of a session, where the system lists them as Linux does."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            fields = file.read_text().rpartition(")")[2].split()
            if int(fields[3]) == number:
                found.append(int(file.parent.name))
    return found


def _openmpi(
    program: str, hosts: Sequence[HostSlots], count: int, shell: str | None, names: Sequence[str]
) -> list[str]:
    line = [program, "--host", hosts_text(hosts), "-n", str(count), "--bind-to", "none"]
    line += ["--prtemca", "plm_ssh_agent", shell or shlex.join(SSH)]
    if _EAGER_VARIABLE not in os.environ:  # what the user says is final
        line += ["--mca", "btl_tcp_eager_limit", str(EAGER)]
    for name in names:
        line += ["-x", name]
    return line


def _mpich(
    program: str, hosts: Sequence[HostSlots], count: int, shell: str | None, names: Sequence[str]
) -> list[str]:
    line = [program, "-hosts", hosts_text(hosts), "-n", str(count), "-genvlist", ",".join(names)]
    if shell is not None:
        line += ["-launcher", "ssh", "-launcher-exec", shlex.split(shell)[0]]
    return line

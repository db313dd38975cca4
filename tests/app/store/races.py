"""Writers for the tests of races: the same in threads and in processes."""

from __future__ import annotations

import subprocess
import sys
import threading

_PROCESS = """
import sys
from tests.app.store.races import write
from sidelight.app.store.studio_store import StudioStore
store = StudioStore(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for line in write(store, int(sys.argv[2]), sys.argv[3], int(sys.argv[4])):
    print(line, flush=True)
store.close()
"""


def write(store, project, who, n):
    """Append events of one person, one by one; return the numbers that were acknowledged."""
    person = store.add_person(project, who)
    return [store.append(person, "answer", {"rows": [0, 1], "number": i}).id for i in range(n)]


def in_processes(where, project, names, n):
    """Let processes write at the same time; return their outputs."""
    words = [sys.executable, "-c", _PROCESS, where, str(project)]
    started = [
        subprocess.Popen([*words, name, str(n)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in names
    ]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    return started


def at_once(*calls):
    """Call everything at the same moment, in threads; return results and errors in the order of the calls."""
    begin, found = threading.Barrier(len(calls)), [None] * len(calls)

    def call(place, do):
        begin.wait()
        try:
            found[place] = do()
        except Exception as error:
            found[place] = error

    threads = [threading.Thread(target=call, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found

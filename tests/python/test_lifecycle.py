"""The lock and lifecycle matrix: each cell in a process of its own, with a watchdog."""

import pytest

LOCKS = [
    ("mutex_held_over_collection", "no"),
    ("mutex_held_over_collection", "yes"),
    ("threads_of_python", "plain", "enabled"),
    ("threads_of_python", "plain", "disabled"),
    ("threads_of_python", "finalized", "enabled"),
    ("threads_of_python", "finalized", "disabled"),
    ("collections_of_another_thread",),
    ("threads_without_python", "none"),
    ("threads_without_python", "detached"),
    ("threads_without_python", "attached"),
    ("native_thread_drops_garbage",),
    ("observer_in_allocation",),
    ("application_lock",),
    ("interrupt_while_waiting",),
]
COLLECTIONS = [
    ("finalizer_allocates",),
    ("finalizers_have_a_reserve",),
    ("collection_in_another_thread",),
    ("garbage_in_two_steps",),
    ("resurrection",),
    ("callbacks_come_and_go",),
    ("collector_at_every_object",),
    ("frozen",),
]
SHUTDOWNS = [
    ("shutdown_with_daemons",),
    ("shutdown_with_native", "none"),
    ("shutdown_with_native", "detached"),
    ("shutdown_with_native", "attached"),
    ("shutdown_with_full_device",),
    ("shutdown_with_finalizers",),
    ("shutdown_with_gil_holder",),
]
PROCESSES = [
    ("fork", "quiet"),
    ("fork", "busy"),
    ("fork_without_python",),
    ("subinterpreter",),
    ("native_code_in_subinterpreter", "one"),
    ("native_code_in_subinterpreter", "several"),
    ("import_is_quiet",),
]


def named(cells):
    return pytest.mark.parametrize("cell", cells, ids=["-".join(cell) for cell in cells])


@named(LOCKS)
def test_locks(scenario, cell):
    scenario(*cell)


@named(COLLECTIONS)
def test_inside_a_collection(scenario, cell):
    scenario(*cell)


# All of them a thousand times: tests/python/repeat_shutdown.py.
@named(SHUTDOWNS)
def test_end_of_the_interpreter(scenario, cell):
    scenario(*cell)


@named(PROCESSES)
def test_processes_and_interpreters(scenario, cell):
    scenario(*cell)

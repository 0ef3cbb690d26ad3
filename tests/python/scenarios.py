"""What may go wrong between a device's lock, the GIL and the life of the interpreter.

`scenarios.py NAME [ARGUMENT...]` plays one. It exits with 0 when it went as it should; whoever starts
it watches the time. Names and meanings: the functions of the modules imported here.
"""

import sys

import scenarios_collection
import scenarios_lifecycle
import scenarios_locks


def main(name, *arguments):
    for module in (scenarios_locks, scenarios_collection, scenarios_lifecycle):
        if scenario := vars(module).get(name):
            return scenario(*arguments)
    raise SystemExit(f"there is no scenario {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])

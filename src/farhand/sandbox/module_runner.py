"""Runs a module of this package with the Python of a container's image, which has no `farhand` of its own.

It is run by its path, inside of the container: standard library only, and nothing that an old Python cannot read."""

import importlib.util
import os
import runpy
import sys

OLDEST = (3, 11)
NOT_RUN = 126
REPAIR = "Build the image with `farhand sandbox build`, or add it to yours."


def load_package(folder: str) -> None:
    """Imports the package from its own folder: what else is installed beside it is for another Python."""
    spec = importlib.util.spec_from_file_location(
        os.path.basename(folder),  # noqa: PTH119
        os.path.join(folder, "__init__.py"),  # noqa: PTH118
        submodule_search_locations=[folder],
    )
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(folder)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)


def main(words: "list[str]") -> int:
    """Becomes the module, or says in one line why not."""
    found = sys.version_info[:2]
    if found < OLDEST:
        sys.stderr.write("The image's python3 is {}.{}; this agent needs {}.{} or newer. ".format(*found, *OLDEST))
        sys.stderr.write(REPAIR + "\n")
        return NOT_RUN
    own = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    # The folder of this file has modules with names of others' packages.
    sys.path[:] = [one for one in sys.path if one != own]
    sys.argv = words
    try:
        load_package(os.path.dirname(own))  # noqa: PTH120
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    except ModuleNotFoundError as error:
        sys.stderr.write("The image's python3 has no package '{}', which this agent needs. ".format(error.name))  # noqa: UP032
        sys.stderr.write(REPAIR + "\n")
        return NOT_RUN
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

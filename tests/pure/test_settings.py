"""Each setting has one default: what is read from an empty environment is what the class has."""

from dataclasses import fields
from pathlib import Path

from farhand.config.settings import Settings, read_settings

# What no class can know: it depends on the machine, the folder or the name of the node.
READ = {"environment"}


def test_an_empty_environment_is_read_as_the_defaults(tmp_path: Path) -> None:
    read = read_settings(node="test", environ={"HOME": str(tmp_path)})
    plain = Settings(node="test", folder=read.folder, port=read.port, working_directory=read.working_directory)
    for one in fields(Settings):
        if one.name not in READ:
            assert getattr(read, one.name) == getattr(plain, one.name), one.name


def test_the_agent_that_is_hired_by_default_is_a_setting(tmp_path: Path) -> None:
    assert read_settings(environ={"HOME": str(tmp_path)}).hire_backend == "claude"
    assert read_settings(environ={"HOME": str(tmp_path), "FARHAND_HIRE_BACKEND": " Demo "}).hire_backend == "demo"

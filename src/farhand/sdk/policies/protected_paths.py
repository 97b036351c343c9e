"""Knows files that configure tools: whoever changes one decides what is run later. Pure but for following links."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from farhand.model.lazy_pattern import lazy_pattern
from farhand.sdk.json_shapes import is_list
from farhand.sdk.policies.hook_scripts import is_hook_script

if TYPE_CHECKING:
    from farhand.sdk.protocols import ToolCall

# A build takes its orders from the file, a tool does, or a hook, a tool server or a task runs it.
EditRisk: TypeAlias = Literal["build", "configures", "hook"]
_EDIT_WORDS = frozenset("write edit replace patch update create append save move rename copy delete".split())
_PATH_ARGUMENTS = ("file_path", "path", "filePath", "file", "filename", "target", "destination", "new_path", "paths")
_BUILD_FILES = frozenset(
    "BUILD BUILD.bazel WORKSPACE WORKSPACE.bazel MODULE.bazel .bazelrc .blazerc Makefile makefile GNUmakefile"
    " CMakeLists.txt package.json package-lock.json pnpm-lock.yaml yarn.lock bun.lockb setup.py setup.cfg"
    " pyproject.toml go.mod go.sum Cargo.toml Cargo.lock pom.xml build.gradle build.gradle.kts settings.gradle"
    " settings.gradle.kts Dockerfile Containerfile".split()
)
_BUILD_PATTERN = lazy_pattern(r"(?:Dockerfile|Containerfile)\..*|.*\.(?:bzl|bazel|bzlmod|mk|cmake)", re.IGNORECASE)
# Folders in which everything configures a tool, and single files that do; compared in lower case.
PROTECTED_FOLDERS = frozenset(
    ".git .gemini .claude .codex .opencode .cursor .agents .github .gitlab .husky .vscode .idea .devcontainer .direnv"
    " .hg .mvn .yarn .mise .zed .qwen .continue .windsurf .roo .kiro .amp .factory"
    " .cargo .config .ssh .gnupg .circleci .farhand .bundle .fleet .jj .sl .svn"
    # Programs and libraries that others run by their names.
    " .venv venv node_modules".split()
)
PROTECTED_FILES = frozenset(
    ".mcp.json .envrc .env .gitattributes .gitmodules .gitconfig .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .netrc"
    " .pypirc .pre-commit-config.yaml .lintstagedrc .tool-versions mise.toml .mise.toml .bashrc .bash_profile"
    " .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .inputrc .vimrc .exrc .tmux.conf"
    " .gdbinit .lldbinit .pythonrc .pdbrc .python_history opencode.json opencode.jsonc tui.json tui.jsonc"
    " sitecustomize.py usercustomize.py .gitlab-ci.yml .travis.yml jenkinsfile mise.local.toml .lintstagedrc.json"
    " lefthook.yml lefthook.yaml lefthook.toml lefthook.json .lefthook.yml .lefthook.yaml .lefthook.toml"
    " .lefthook.json .huskyrc .huskyrc.js .huskyrc.json .hgrc .rprofile .renviron .irbrc .pryrc .rspec .psqlrc"
    " .screenrc .pylintrc .flake8 mypy.ini bunfig.toml rust-toolchain rust-toolchain.toml package.swift build.sbt"
    " tiltfile earthfile azure-pipelines.yml phpunit.xml .php-cs-fixer.php rebar.config"
    " .nvim.lua .dir-locals.el crush.json .crush.json"
    # Runners of tasks, and what they and package managers take their orders from.
    " tox.ini noxfile.py justfile .justfile taskfile.yml taskfile.yaml rakefile gemfile gemfile.lock procfile"
    " vagrantfile gulpfile.js gruntfile.js dodo.py fabfile.py tasks.py wscript sconstruct meson.build build.zig mix.exs"
    " flake.nix shell.nix default.nix compose.yaml compose.yml docker-compose.yaml docker-compose.yml"
    " uv.lock poetry.lock pdm.lock pipfile pipfile.lock bun.lock npm-shrinkwrap.json composer.json composer.lock"
    " deno.json deno.jsonc turbo.json nx.json lerna.json pnpm-workspace.yaml .pnp.cjs gradlew mvnw gradle.properties"
    " build.rs pytest.ini .coveragerc .babelrc .babelrc.js .eslintrc.js .eslintrc.cjs .prettierrc.js"
    " .mocharc.js".split()
)
# The CLI keeps what it writes for itself there; a plan orders nobody to do anything.
_PLAN = lazy_pattern(r".*/\.gemini/tmp/[\w-]+/(?:[\w-]+/)?plans/[\w-]+\.md")
# Besides: variables, paths that Python imports from, and settings that are programs.
PROTECTED_PATTERN = lazy_pattern(
    r"\.env\..+|.+\.pth|.+\.config\.[cm]?[jt]s|(?:docker-)?compose\..+\.ya?ml|requirements.*\.(?:txt|in)"
)


def edited_paths(call: ToolCall) -> list[str]:
    """The paths that a call of an editing tool may change; none for any other tool."""
    if not _EDIT_WORDS.intersection(re.split(r"[^a-z0-9]+", call.name.lower())):
        return []
    given = [call.arguments[key] for key in _PATH_ARGUMENTS if key in call.arguments]
    named = [one for value in given for one in (value if is_list(value) else [value])]
    plain = [one.replace("\0", "") for one in named if isinstance(one, str) and one.strip()]
    # Some tools take the blanks around a path away, and some do not.
    return list(dict.fromkeys(reading for one in plain for reading in (one, one.strip())))


def edit_risk(path: str, cwd: Path, *, builds_only: bool = False) -> EditRisk | None:
    """What would later run because of this file, under the name that is given or the one it really has."""
    root = os.path.realpath(cwd)
    found = _readings(path, root)
    if any(_is_build_file(one) for one in found):
        return "build"
    if builds_only:
        return None
    if any(_configures(one, root) for one in found) and not all(_PLAN.fullmatch(one) for one in found):
        return "configures"
    return "hook" if is_hook_script(found, root) else None


def _readings(path: str, root: str) -> set[str]:
    """What a path may mean: as a tool opens it, links before `..`, and as it is written, for whoever reads it so."""
    named = [os.path.join(root, os.path.expanduser(one)) for one in {path, path.replace("\\", "/")}]  # noqa: PTH111, PTH118
    return {reading(one) for one in named for reading in (os.path.realpath, os.path.normpath)}


def _is_build_file(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name in _BUILD_FILES or _BUILD_PATTERN.fullmatch(name) is not None


def _configures(path: str, root: str) -> bool:
    # Folders above the workspace do not count: it may well lie in somebody's ~/.config.
    inside = path == root or path.startswith(f"{root.rstrip('/')}/")
    parts = (path[len(root) :] if inside else path).lower().strip("/").split("/")
    if not PROTECTED_FOLDERS.isdisjoint(parts):
        return True
    return parts[-1] in PROTECTED_FILES or PROTECTED_PATTERN.fullmatch(parts[-1]) is not None

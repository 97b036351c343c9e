"""Sandboxes as words and command lines: what is mounted, what is hidden, and what an engine is told."""

from __future__ import annotations

import pytest

from farhand.config.sandbox import read_sandbox
from farhand.model.container import ContainerEngine, SandboxPlan, container_argv
from farhand.model.errors import SettingWrong
from farhand.model.http_guard import why_not_direct
from farhand.model.present import Worker
from farhand.model.sandbox import Mount, SandboxEngine, SandboxLimits, SandboxOptions, read_mount
from farhand.sandbox import plan
from farhand.sandbox.bwrap import bwrap_argv, hidden_in_bwrap
from farhand.sandbox.plan import SandboxPlaces

PLACES = SandboxPlaces(
    nodes="/home/mo/.claude/telegram",
    folder="/home/mo/.claude/telegram/nodes/prod",
    hooks="/home/mo/.claude/telegram/nodes/prod/hooks",
    sessions="/home/mo/.claude/telegram/nodes/prod/sessions",
    temporary="/tmp/claudecode-telegram/prod",
    home="/home/mo",
    tmux_prefix="claude-prod-",
)
DOCKER = ContainerEngine(SandboxEngine.DOCKER, "/usr/bin/docker")


def planned(**changes: object) -> SandboxPlan:
    given = {
        "name": "farhand-x-ann-1",
        "argv": ("claude", "--resume", "1"),
        "directory": "/home/mo/shop",
        "mounts": (Mount(source="/home/mo/.claude", target="/home/mo/.claude"), Mount(source="/a,b", target="/a,b")),
        "hidden": ("/home/mo/.claude/telegram",),
        "variables": ("HOME", "ANTHROPIC_API_KEY"),
        **changes,
    }
    return SandboxPlan(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "mount"),
    [
        ("/data", Mount(source="/data", target="/data")),
        ("ro:/data/", Mount(source="/data", target="/data", read_only=True)),
        ("/data:/inside", Mount(source="/data", target="/inside")),
        ("ro:~/notes:/notes", Mount(source="/home/mo/notes", target="/notes", read_only=True)),
        ("~", Mount(source="/home/mo", target="/home/mo")),
    ],
)
def test_a_mount(text: str, mount: Mount) -> None:
    assert read_mount(text, "/home/mo") == mount


@pytest.mark.parametrize("text", ["data", "/data:inside", "/data:/a:rw", "/", "ro:", "/data:/"])
def test_what_is_no_mount_is_refused(text: str) -> None:
    with pytest.raises(SettingWrong, match="whole paths"):
        read_mount(text, "/home/mo")


def test_the_variables() -> None:
    options = read_sandbox(
        {
            "HOME": "/home/mo",
            "SANDBOX_ENABLED": "1",
            "SANDBOX_IMAGE": "mine:2",
            "SANDBOX_MOUNTS": "/data, ro:/etc/ssl",
            "FARHAND_SANDBOX_ENGINE": "podman",
            "FARHAND_SANDBOX_MEMORY": "2g",
            "FARHAND_SANDBOX_PIDS": "300",
            "FARHAND_SANDBOX_CPUS": "1.5",
            "FARHAND_SANDBOX_NETWORK": "none",
            "FARHAND_SANDBOX_READ_ONLY": "1",
            "FARHAND_SANDBOX_HOME": "0",
        }
    )
    limits = SandboxLimits(memory="2g", pids=300, cpus="1.5", network="none", read_only=True)
    mounts = (Mount(source="/data", target="/data"), Mount(source="/etc/ssl", target="/etc/ssl", read_only=True))
    engine = SandboxEngine.PODMAN
    assert options == SandboxOptions(
        enabled=True, engine=engine, image="mine:2", mounts=mounts, limits=limits, home=False
    )
    assert read_sandbox({}) == SandboxOptions()
    assert read_sandbox({"SANDBOX_ENABLED": "0"}).enabled is False
    with pytest.raises(SettingWrong, match="auto, docker, podman, bwrap"):
        read_sandbox({"FARHAND_SANDBOX_ENGINE": "lxc"})


def test_a_worker_may_say_otherwise_than_its_node() -> None:
    assert SandboxOptions(enabled=True).wraps({})
    assert not SandboxOptions(enabled=True).wraps({"sandbox": "off"})
    assert SandboxOptions().wraps({"sandbox": "on"})
    assert not SandboxOptions().wraps({})


def test_the_home_is_inside_twice_and_the_node_is_hidden_in_both() -> None:
    mounts = plan.shared_mounts(PLACES, "/srv/shop", (Mount(source="/data", target="/data"),), home=True)
    assert [mount.shown for mount in mounts] == [
        "/home/mo → /workspace",
        "/home/mo → /home/mo",
        "/srv/shop → /srv/shop",
        "/data → /data",
    ]
    assert plan.hidden_folders([PLACES.nodes], mounts) == [
        "/workspace/.claude/telegram",
        "/home/mo/.claude/telegram",
    ]
    without = plan.shared_mounts(PLACES, "/srv/shop", (), home=False)
    assert [mount.target for mount in without] == ["/srv/shop"]


def test_a_node_in_a_folder_of_the_system_is_hidden_under_bubblewrap() -> None:
    mounts = plan.shared_mounts(PLACES, "/srv/shop", (), home=True)
    assert hidden_in_bwrap(["/opt/farhand"], mounts) == ["/opt/farhand"]
    assert plan.hidden_folders(["/opt/farhand"], mounts) == []


@pytest.mark.parametrize("source", [PLACES.nodes, PLACES.folder, f"{PLACES.folder}/holders"])
def test_the_nodes_own_folder_cannot_be_mounted(source: str) -> None:
    with pytest.raises(SettingWrong, match="own key"):
        plan.shared_mounts(PLACES, "/srv", (Mount(source=source, target="/x"),), home=True)


def test_of_the_node_only_what_is_the_workers_is_inside() -> None:
    own = f"{PLACES.folder}/claude/ann-1"
    named = plan.named_paths([f"{own}/settings.json", f"{PLACES.folder}/claude/shared.json", "/usr/x"], PLACES.folder)
    ann = Worker(name="ann", since=1, backend="claude", directory="/")
    assert [mount.shown for mount in plan.own_mounts(PLACES, ann, own, named)] == [
        f"{own} → {own} (ro)",
        f"{PLACES.hooks} → {PLACES.hooks} (ro)",
        f"{own}/spool → {own}/spool",
        f"{own}/private → {own}/private",
        f"{PLACES.folder}/claude/shared.json → {PLACES.folder}/claude/shared.json (ro)",
        f"{PLACES.sessions} → {PLACES.sessions} (ro)",
        f"{PLACES.sessions}/ann → {PLACES.sessions}/ann",
        # Where others have the team's pipes it has its own.
        f"{PLACES.folder}/pipes/ann-1 → {PLACES.temporary} (ro)",
        f"{PLACES.temporary}/ann/inbox → {PLACES.temporary}/ann/inbox (ro)",
    ]


@pytest.mark.parametrize("source", [PLACES.temporary, f"{PLACES.temporary}/bob"])
def test_the_teams_pipes_cannot_be_mounted(source: str) -> None:
    with pytest.raises(SettingWrong, match="other workers' pipes"):
        plan.shared_mounts(PLACES, "/srv", (Mount(source=source, target="/x"),), home=True)


def test_the_path_has_what_is_mounted_and_then_the_images_own() -> None:
    mounts = [Mount(source="/home/mo", target="/home/mo"), Mount(source="/opt", target="/elsewhere")]
    path = plan.inside_path("/home/mo/.local/bin:/opt/bin:/usr/bin", mounts)
    assert path == f"/home/mo/.local/bin:{plan.USUAL_PATH}"


def test_a_containers_command_line() -> None:
    words = container_argv(DOCKER, "image:1", planned(terminal=True), (1000, 1000))
    assert words[:3] == ["/usr/bin/docker", "run", "--rm"]
    assert words[-4:] == ["image:1", "claude", "--resume", "1"]
    assert words[words.index("--workdir") + 1] == "/home/mo/shop"
    assert {"--interactive", "--tty", "--pull=never", "--user=1000:1000", "--cap-drop=all"} <= set(words)
    assert {"--security-opt=no-new-privileges", "--add-host=host.docker.internal:host-gateway"} <= set(words)
    assert "--mount=type=bind,source=/home/mo/.claude,target=/home/mo/.claude" in words
    assert '--mount=type=bind,"source=/a,b","target=/a,b"' in words
    assert "--tmpfs=/home/mo/.claude/telegram:rw,mode=0755,size=16m" in words
    podman = container_argv(ContainerEngine(SandboxEngine.PODMAN, "podman"), "image:1", planned(), (0, 0))
    assert "--tmpfs=/home/mo/.claude/telegram:rw,mode=0755,size=16m,notmpcopyup" in podman
    assert "--env=ANTHROPIC_API_KEY" in words
    assert "--tty" not in container_argv(DOCKER, "image:1", planned(), (0, 0))


def test_the_limits_of_a_container() -> None:
    limits = SandboxLimits(memory="2g", pids=300, cpus="1.5", network="none", read_only=True)
    words = container_argv(DOCKER, "image:1", planned(limits=limits), (0, 0))
    assert {"--memory=2g", "--pids-limit=300", "--cpus=1.5", "--network=none", "--read-only"} <= set(words)
    assert not [word for word in words if word.startswith("--add-host")]
    hosted = container_argv(DOCKER, "image:1", planned(limits=SandboxLimits(network="host")), (0, 0))
    assert "--add-host=host.docker.internal:127.0.0.1" in hosted


def test_whoever_is_root_in_a_rootless_container_stays_the_same_user() -> None:
    podman = ContainerEngine(SandboxEngine.PODMAN, "podman", rootless=True, host_address="192.0.2.7")
    words = container_argv(podman, "image:1", planned(), (1000, 100))
    assert {"--userns=keep-id", "--user=1000:100", "--add-host=host.docker.internal:192.0.2.7"} <= set(words)


def test_bubblewrap_makes_what_is_outermost_first() -> None:
    inner = Mount(source="/x/own", target="/home/mo/.claude/telegram/nodes/prod/claude/ann-1")
    home = Mount(source="/home/mo", target="/home/mo")
    words = bwrap_argv("bwrap", planned(mounts=(inner, home)))
    places = [words.index(one) for one in ("/home/mo", "/home/mo/.claude/telegram", inner.target)]
    assert places == sorted(places)
    assert words[-6:] == ["--chdir", "/home/mo/shop", "--", "claude", "--resume", "1"]
    assert {"--die-with-parent", "--unshare-pid"} <= set(words)
    assert "--unshare-net" not in words
    assert "--unshare-net" in bwrap_argv("bwrap", planned(limits=SandboxLimits(network="none")))


@pytest.mark.parametrize(
    "limits",
    [SandboxLimits(memory="1g"), SandboxLimits(pids=9), SandboxLimits(cpus="1"), SandboxLimits(network="mine")],
)
def test_a_limit_that_bubblewrap_cannot_hold_is_refused(limits: SandboxLimits) -> None:
    with pytest.raises(SettingWrong, match="Docker or podman"):
        bwrap_argv("bwrap", planned(limits=limits))


@pytest.mark.parametrize(
    ("client", "host", "allowed"),
    [
        ("10.88.0.4", "host.docker.internal:8081", True),
        ("10.88.0.4", "localhost:8081", False),
        ("8.8.8.8", "host.docker.internal:8081", False),
        ("127.0.0.1", "localhost:8081", True),
        ("nonsense", "host.docker.internal", False),
    ],
)
def test_a_worker_in_a_container_may_come_with_its_key(client: str, host: str, allowed: bool) -> None:
    assert (why_not_direct({"host": host}, client, from_containers=True) == "") is allowed
    if not client.startswith("127."):
        assert why_not_direct({"host": host}, client)
    assert why_not_direct({"host": host, "x-forwarded-for": "1"}, client, from_containers=True)


def test_what_lies_above_a_hidden_folder_stays_where_it_is() -> None:
    mounts = plan.shared_mounts(PLACES, "/home/mo/code/team/shop", (), home=True)
    pinned = plan.pinned_mounts([PLACES.nodes, "/srv/elsewhere"], "/home/mo/code/team/shop", mounts)
    assert sorted(mount.shown for mount in pinned) == [
        "/home/mo/.claude → /home/mo/.claude",
        "/home/mo/.claude → /workspace/.claude",
        "/home/mo/code → /home/mo/code",
        "/home/mo/code → /workspace/code",
        "/home/mo/code/team → /home/mo/code/team",
        "/home/mo/code/team → /workspace/code/team",
        "/home/mo/code/team/shop → /workspace/code/team/shop",
    ]
    # So does the source of another mount, wherever it is mounted.
    mounts = plan.shared_mounts(PLACES, "/srv/shop", (Mount(source="/home/mo/a/b", target="/b"),), home=True)
    pinned = plan.pinned_mounts([], "/srv/shop", mounts)
    assert {mount.target for mount in pinned} == {
        f"{top}/{one}" for top in ("/workspace", "/home/mo") for one in ("a", "a/b")
    }
    # A reviewer's folder lies in the node's own, which stays hidden.
    copy = f"{PLACES.folder}/reviews/1/files"
    inside = plan.pinned_mounts([PLACES.nodes], copy, plan.shared_mounts(PLACES, copy, (), home=True))
    assert {mount.source for mount in inside} == {"/home/mo/.claude"}

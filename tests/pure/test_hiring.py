"""What `/hire` understands beside a name, and what becomes of a hiring that does not say everything."""

import pytest

from farhand.channels.kit.lifecycle import lifecycle_cards
from farhand.channels.kit.surface import ChatTap
from farhand.channels.kit.tap_data import tap_data, tap_to_wish
from farhand.channels.kit.topic_wishes import with_worker
from farhand.channels.telegram.render import render
from farhand.core.decide import decide
from farhand.core.hire_policy import HirePolicy
from farhand.model import commands, facts
from farhand.model.commands import Command, Hire, Tune
from farhand.model.errors import BadInput, CannotDo, NoFolder, UnknownBackend
from farhand.model.facts import Event
from farhand.model.grammar import read
from farhand.model.ports import SessionFound
from farhand.model.present import Present, Worker
from farhand.model.present_fold import fold
from farhand.model.wishes import Wish, Wrong
from farhand.model.words import Mode, Sender, replace

KINDS = ("claude", "claude/tmux", "claude/headless", "codex", "codex/headless", "codex/tmux", "demo", "demo/headless")


def wished(argument: str) -> Wish | None:
    return read("1", f"/hire {argument}", Present())


def hire(argument: str) -> Hire:
    wish = wished(argument)
    assert isinstance(wish, Hire)
    return wish


@pytest.mark.parametrize(
    ("said", "mode"),
    [
        ("ann", None),
        ("ann --ask", Mode.DEFAULT),
        ("ann codex --ask", Mode.DEFAULT),
        ("ann --mode plan", Mode.PLAN),
        ("ann --plan", Mode.PLAN),
        ("ann --yolo", Mode.YOLO),
        ("ann --auto-edit", Mode.AUTO_EDIT),
        ("—mode=YOLO ann", Mode.YOLO),
        ("--mode auto_edit ann", Mode.AUTO_EDIT),
    ],
)
def test_what_a_worker_may_do_unasked_is_said_with_its_name(said: str, mode: Mode | None) -> None:
    assert hire(said).mode is mode
    assert hire(said).worker == "ann"


def test_a_wire_a_model_and_a_folder_are_said_with_the_name() -> None:
    wish = hire("codex-ann --tmux --model o9 --dir /srv/site")
    assert (wish.backend, wish.options, wish.model, wish.directory) == ("", {"wire": "tmux"}, "o9", "/srv/site")
    assert hire("ann --codex --headless").options == hire("ann --wire headless").options == {"wire": "headless"}
    assert hire('ann --dir "/srv/my site"').directory == hire("ann --dir “/srv/my site”").directory == "/srv/my site"
    assert hire("ann Codex").backend == "codex"
    assert hire("ann --adapter codex").backend == hire("ann --backend codex").backend == "codex"
    assert hire("ann").options == {}


@pytest.mark.parametrize(
    "said",
    [
        "",
        "ann codex bob",
        "ann codex --gemini",
        "ann --backend",
        "ann --mode",
        "--ask",
        "ann --model --tmux",
        "ann --anyway",
    ],
)
def test_half_a_hiring_gets_the_usage(said: str) -> None:
    assert wished(said) == Wrong(id="1", why="Usage: /hire <name>")


def test_a_mode_that_does_not_exist_is_named_with_those_that_do() -> None:
    wrong = wished("ann --mode reckless")
    assert wrong == Wrong(id="1", why="There is no mode 'reckless'. Known: default, auto_edit, plan, yolo.")


ME = Sender(via="test")


def decided(command: Hire, mode: Mode = Mode.YOLO, backend: str = "claude") -> facts.Hired:
    policy = HirePolicy(KINDS, "/", mode, backend=backend)
    hired = decide(Present(), command, Sender(via="test"), policy)[0].fact
    assert isinstance(hired, facts.Hired)
    return hired


def test_a_hiring_without_a_mode_gets_the_nodes() -> None:
    assert decided(hire("ann")).mode is Mode.YOLO
    assert decided(hire("ann"), Mode.PLAN).mode is Mode.PLAN
    assert decided(hire("ann --ask")).mode is Mode.DEFAULT


def test_a_wire_that_the_backend_has_not_is_refused_with_those_it_has() -> None:
    assert decided(hire("ann --codex --tmux")).options == {"wire": "tmux"}
    with pytest.raises(BadInput, match=r"A demo worker has no wire 'tmux'\. It has: headless\."):
        decided(hire("ann --demo --tmux"))
    with pytest.raises(UnknownBackend, match=r"claude, codex, demo"):
        decided(hire("ann --nobody --tmux"))


def test_a_hiring_without_a_backend_gets_the_one_of_its_name_or_the_nodes() -> None:
    assert decided(hire("ann")).backend == "claude"
    assert decided(hire("ann"), backend="demo").backend == "demo"
    assert decided(hire("Codex-Ann"), backend="demo").backend == "codex"
    assert decided(hire("codex-ann --claude")).backend == "claude"
    assert decided(hire("codexann")).backend == "claude"
    # A name that spec 2 gives a backend never becomes another agent by the way.
    with pytest.raises(UnknownBackend, match="'gemini'"):
        decided(hire("gemini-ann"))


def test_an_effort_that_the_worker_does_not_have_is_refused_with_those_it_has() -> None:
    policy = HirePolicy(KINDS, "/", Mode.DEFAULT, efforts={"claude": ("low", "high"), "codex": ()})
    hired = decide(Present(), hire("ann --effort High"), ME, policy)[0].fact
    present = fold(Present(), Event(seq=1, at=0.0, worker="ann", fact=hired))
    assert present.workers["ann"].effort == "high"
    (asked,) = decide(present, Tune(id="2", worker="ann", effort="low"), ME, policy)
    assert asked.fact == facts.TuneAsked(effort="low", by=ME)
    for command in (hire("bob --effort=utmost"), Tune(id="3", worker="ann", effort="utmost")):
        with pytest.raises(BadInput, match=r"A claude worker has no effort 'utmost'\. Known: low, high\."):
            decide(present, command, ME, policy)
    with pytest.raises(CannotDo, match=r"A codex worker cannot be told how hard to think\."):
        decide(present, hire("bob --codex --effort low"), ME, policy)


@pytest.mark.parametrize(("said", "folder"), [("shop", "/srv/shop"), ("~", "/home/mo"), ("~/shop", "/home/mo/shop")])
def test_a_folder_is_seen_from_where_workers_start_or_from_home(said: str, folder: str) -> None:
    policy = HirePolicy(KINDS, "/srv", Mode.DEFAULT, home="/home/mo")
    hired = decide(Present(), hire(f"ann --dir {said}"), ME, policy)[0].fact
    assert isinstance(hired, facts.Hired)
    assert hired.directory == folder


def test_nobody_is_hired_into_a_folder_that_is_not_there() -> None:
    policy = HirePolicy(KINDS, "/srv", Mode.DEFAULT, is_folder={"/srv", "/srv/shop"}.__contains__)
    decide(Present(), hire("ann --dir shop"), ME, policy)
    with pytest.raises(NoFolder, match=r"^There is no folder /srv/shpo\. Make it, or name another\.$"):
        decide(Present(), hire("ann --dir shpo"), ME, policy)
    gone = SessionFound(id="s-1", directory="/srv/gone")
    with pytest.raises(NoFolder, match="/srv/gone"):
        decide(Present(), Hire(id="1", worker="ann", backend="claude", session="s-1"), ME, policy, gone)


@pytest.mark.parametrize("model", ["--yolo", "-c", "a\nb", "\x1b[2J", "x" * 301])
def test_a_model_is_a_name_and_never_an_option_of_the_agent_s_program(model: str) -> None:
    policy = HirePolicy(KINDS, "/srv", Mode.DEFAULT)
    with pytest.raises(BadInput, match="no blanks, and begins with no hyphen"):
        decide(Present(), Hire(id="1", worker="ann", backend="claude", model=model), ME, policy)
    present = Present(workers={"ann": Worker(name="ann", since=1, backend="claude", directory="/srv")})
    with pytest.raises(BadInput, match="no blanks, and begins with no hyphen"):
        decide(present, Tune(id="1", worker="ann", model=model), ME, policy)
    # What a conversation had is read off a file that an agent may have written.
    found = SessionFound(id="s-1", directory="/srv", model=model)
    hired = decide(Present(), Hire(id="1", worker="ann", backend="claude", session="s-1"), ME, policy, found)[0].fact
    assert isinstance(hired, facts.Hired)
    assert hired.model == ""


def test_who_had_the_focus_before_a_hiring_is_written_with_it() -> None:
    policy = HirePolicy(KINDS, "/srv", Mode.DEFAULT)
    _, first = decide(Present(), hire("ann"), ME, policy)
    assert first.fact == facts.Focused(by=ME)
    present = Present(focus="ann", workers={"ann": Worker(name="ann", since=1, backend="claude", directory="/srv")})
    _, second = decide(present, hire("bob"), ME, policy)
    assert second.fact == facts.Focused(by=ME, before="ann")


def test_where_nobody_may_act_unasked_it_is_refused_with_the_reason() -> None:
    policy = HirePolicy(KINDS, "/", Mode.DEFAULT, no_yolo="Not as root.")
    hired = decide(Present(), hire("ann"), Sender(via="test"), policy)[0].fact
    present = fold(Present(), Event(seq=1, at=0.0, worker="ann", fact=hired))
    assert present.workers["ann"].mode is Mode.DEFAULT
    for command in (hire("bob --mode=yolo"), Tune(id="2", worker="ann", mode=Mode.YOLO)):
        with pytest.raises(CannotDo, match=r"Not as root\."):
            decide(present, command, Sender(via="test"), policy)
    assert decide(present, Tune(id="3", worker="ann", mode=Mode.PLAN), Sender(via="test"), policy)


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        (
            Mode.YOLO,
            "1bob acts WITHOUT ASKING: it runs commands and changes files by itself (mode yolo).\n"
            "Folder: /srv\nChange it with a button, or type /mode 1bob default\nWhat you write goes to 1bob now.",
        ),
        (
            Mode.DEFAULT,
            "1bob asks before it acts (mode default).\nFolder: /srv\n"
            "Change it with a button, or type /mode 1bob auto_edit\nWhat you write goes to 1bob now.",
        ),
    ],
)
def test_a_hiring_says_its_mode_its_folder_and_how_to_change_them(mode: Mode, says: str) -> None:
    fact = facts.Hired(backend="demo", directory="/srv", mode=mode, by=Sender(via="test"))
    first, second = lifecycle_cards(Event(seq=7, at=0.0, worker="1bob", fact=fact))
    assert (first.head, second.head) == ("1bob is added and assigned. They'll stay on your team.", says)
    taps = [button.tap for row in second.buttons for button in row]
    wishes = [tap_to_wish(ChatTap(id="q", chat="7", data=tap_data(tap)), Present()) for tap in taps]
    others = [one for one in Mode if one not in {mode, Mode.YOLO}]
    assert wishes == [Tune(id="t:q", worker="1bob", mode=one) for one in others]
    for card in (first, second):
        (parcel,) = render(card, 1, "telegram", "99")
        assert b'"html":""' in parcel.body or b'"html"' not in parcel.body


@pytest.mark.parametrize("focus", [True, False])
def test_a_hiring_says_that_it_is_spoken_to_where_it_is(focus: bool) -> None:
    policy = HirePolicy(KINDS, "/", Mode.DEFAULT)
    command = Hire(id="1", worker="bob", backend="demo", focus=focus)
    hired, *rest = decide(Present(), command, Sender(via="test"), policy)
    how = lifecycle_cards(Event(seq=7, at=0.0, worker="bob", fact=hired.fact))[1]
    assert ("What you write goes to bob now." in how.head) is bool(rest) is focus


def test_a_button_with_a_mode_that_nobody_knows_changes_nothing() -> None:
    assert isinstance(tap_to_wish(ChatTap(id="q", chat="7", data="t:god:ann"), Present()), Wrong)


@pytest.mark.parametrize(
    "command",
    [
        commands.Interrupt(id="1"),
        commands.AddTasks(id="1", tasks=("x",)),
        commands.Halt(id="1", now=True),
        commands.CancelReview(id="1", review="r"),
    ],
)
def test_a_command_that_names_nobody_means_the_worker_of_the_topic(command: commands.Interrupt | commands.Halt) -> None:
    assert with_worker(command, "ann") == replace(command, worker="ann")
    named = replace(command, worker="bob")
    assert with_worker(named, "ann") == named


@pytest.mark.parametrize("command", [Hire(id="1", worker=""), commands.Withdraw(id="1", message="m")])
def test_a_command_that_is_for_no_focused_worker_stays_as_it_is(command: Command) -> None:
    assert with_worker(command, "ann") == command


def test_a_name_of_an_earlier_version_still_hires_and_is_told_to_nobody() -> None:
    policy = HirePolicy(("claude", "claude-headless"), "/", Mode.DEFAULT, former=("claude-headless",))
    policy.check("claude-headless", {})
    with pytest.raises(UnknownBackend, match=r"Known: claude\.$"):
        policy.check("claud", {})

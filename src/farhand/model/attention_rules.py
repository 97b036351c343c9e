"""Who is buzzed when, on which channel: one set of rules for all of them, as a state that facts and time move. Pure.

An ask buzzes at one place at a time: in the app, then in a chat, then in the app again, until it is answered. It is
never told twice at once, and never not at all. Everything else buzzes once, or together with what came with it."""

from collections.abc import Iterable
from dataclasses import dataclass

from farhand.model.attention import AttentionKind, AttentionSettings, may_buzz, quiet_end
from farhand.model.words import Seq, Word, WorkerName, replace

APP = "app"
# Whoever typed at the desk is there for so long.
DESK_SECONDS = 120.0
# Of what is no ask so many buzz in the app within that time; the rest is told as one when it is over.
BURST, BURST_SECONDS = 3, 60.0
# More asks than this that come due together are told as one.
MOST_ASKS_AT_ONCE = 3
# Whoever looked when an ask came, and has left for so long, is told of it.
LEFT_SECONDS = 15.0
# How often an ask buzzes.
LAST_STEP = 3
# Nobody was there for so long: what happened meanwhile is told as a digest.
AWAY_SECONDS = 15 * 60.0
MOST_LOGGED, MOST_DECIDED = 100, 500


class Matter(Word):
    """Something that a person may want to know."""

    # Names it for ever.
    key: str
    kind: AttentionKind
    at: float
    worker: WorkerName = ""
    # The beginning of what it says.
    text: str = ""
    # The channel over which the person began it.
    via: str = ""


class WaitingAsk(Word):
    """An ask that is open: how often it has buzzed, where, and when it does next."""

    matter: Matter
    step: int = 0
    due: float | None = None
    # It is due at the end of a quiet time.
    quiet: bool = False
    # Somebody looked when it came, so that it did not buzz at once.
    postponed: bool = False
    # Whoever looked has left: it buzzes then, unless they are back.
    left_due: float | None = None
    places: tuple[str, ...] = ()
    # Those of the places at which it was told together with others.
    together: tuple[str, ...] = ()

    def told_alone(self, place: str) -> bool:
        """Whether it has had a notification of its own there."""
        return self.places.count(place) > self.together.count(place)


class AskBundle(Word):
    """The one notification of several asks at a place: its name, and those of its asks that still wait there."""

    key: str
    matters: tuple[Matter, ...]


class AttentionState(Word):
    """All that the rules remember."""

    # Up to which event everything was taken in.
    seq: Seq = 0
    asks: dict[str, WaitingAsk] = {}
    # What was told together, by place.
    bundles: dict[str, AskBundle] = {}
    # What is no ask and is told together, and when.
    held: tuple[Matter, ...] = ()
    held_due: float | None = None
    # When what is no ask buzzed last.
    buzzed: tuple[float, ...] = ()
    desk_at: float = 0.0
    # When the person was last there at all; from when to when nobody was.
    seen_at: float = 0.0
    away_from: float = 0.0
    away_to: float = 0.0
    log: tuple[Matter, ...] = ()
    # Where each matter buzzed when it came; empty for nowhere.
    decided: dict[str, str] = {}


@dataclass(frozen=True)
class Situation:
    """How things stand: the time, whom somebody looks at right now, and what can buzz."""

    now: float
    looked_at: frozenset[WorkerName] = frozenset()
    # Whether a phone can be reached by push; the chats in which the manager reads, in order.
    app: bool = False
    chats: tuple[str, ...] = ()

    def places(self, matter: Matter) -> tuple[str, ...]:
        """Where it may buzz, the first place first: what is no ask goes back to the chat that it was begun in."""
        everywhere = ((APP,) if self.app else ()) + self.chats[:1]
        if matter.kind is not AttentionKind.ASK and matter.via in self.chats:
            return (matter.via,)
        return everywhere


class Buzz(Word):
    """One notification at one place."""

    place: str
    # One matter, or several that are told as one.
    matters: tuple[Matter, ...]
    step: int = 1
    # Decided together with its fact: what a chat shows of the fact is itself the notification.
    with_fact: bool = False
    # It is the one notification of several asks at its place, also when one of them is left.
    several: bool = False
    # Asks that an earlier such notification told here, and that still wait: this one takes its place, and shows them.
    beside: tuple[Matter, ...] = ()
    # The name of the notification whose place it takes.
    replaces: str = ""

    @property
    def shown(self) -> tuple[Matter, ...]:
        """All that it shows."""
        return (*self.beside, *self.matters)

    @property
    def key(self) -> str:
        """Names it for ever."""
        several = f"+{len(self.matters) - 1}" if len(self.matters) > 1 else ""
        return f"{self.matters[0].key}{several}:{self.step}"


Moved = tuple[AttentionState, tuple[Buzz, ...]]


def take(state: AttentionState, matter: Matter, settings: AttentionSettings, around: Situation) -> Moved:
    """The state after something happened, and who is buzzed for it at once. Taken twice, it is the same once."""
    if matter.key in state.decided or matter.key in state.asks:
        return state, ()
    state = replace(state, log=(*state.log, matter)[-MOST_LOGGED:])
    moved, buzzes = (
        _take_ask(state, matter, settings, around) if _is_ask(matter) else _take(state, matter, settings, around)
    )
    if not around.places(matter):
        # Nobody decided anything: whoever shows it later does so as ever.
        return moved, ()
    place = buzzes[0].place if buzzes else ""
    decided = {**moved.decided, matter.key: place}
    for old in list(decided)[:-MOST_DECIDED]:
        del decided[old]
    return replace(moved, decided=decided), tuple(replace(one, with_fact=True) for one in buzzes)


def _is_ask(matter: Matter) -> bool:
    return matter.kind is AttentionKind.ASK


def is_present(state: AttentionState, matter: Matter, settings: AttentionSettings, around: Situation) -> bool:
    """Whether the person sees it anyway: looks at that worker, or sits at the desk."""
    at_desk = settings.desk and 0 <= around.now - state.desk_at < DESK_SECONDS
    return at_desk or (matter.worker != "" and matter.worker in around.looked_at)


def _take_ask(state: AttentionState, matter: Matter, settings: AttentionSettings, around: Situation) -> Moved:
    due = around.now
    if not may_buzz(settings, matter.kind, matter.worker):
        # It is told once, late: a question that nobody hears of is denied in the end.
        ask = WaitingAsk(matter=matter, step=LAST_STEP - 1, due=due + settings.again_minutes * 60)
        return _with(state, ask), ()
    if is_present(state, matter, settings, around):
        due += settings.next_minutes * 60
    is_looked_at = matter.worker in around.looked_at
    state = _with(state, WaitingAsk(matter=matter, due=due, postponed=is_looked_at))
    return _wake_asks(state, [matter.key], settings, around)


def _take(state: AttentionState, matter: Matter, settings: AttentionSettings, around: Situation) -> Moved:
    places = around.places(matter)
    if not may_buzz(settings, matter.kind, matter.worker) or is_present(state, matter, settings, around) or not places:
        return state, ()
    if (end := quiet_end(settings, matter.kind, around.now)) is not None:
        return _hold(state, matter, end), ()
    recent = tuple(at for at in state.buzzed if around.now - at < BURST_SECONDS)
    # A chat's messages are there one by one, and its service groups their notifications itself.
    if len(recent) >= BURST and places[0] == APP:
        return _hold(replace(state, buzzed=recent), matter, recent[0] + BURST_SECONDS), ()
    return replace(state, buzzed=(*recent, around.now)), (Buzz(place=places[0], matters=(matter,)),)


def _hold(state: AttentionState, matter: Matter, until: float) -> AttentionState:
    due = until if state.held_due is None else max(until, state.held_due)
    return replace(state, held=(*state.held, matter)[-MOST_LOGGED:], held_due=due)


def _with(state: AttentionState, ask: WaitingAsk) -> AttentionState:
    return replace(state, asks={**state.asks, ask.matter.key: ask})


def settle(state: AttentionState, key: str) -> tuple[AttentionState, WaitingAsk | None]:
    """The state without that ask, which was answered or is no longer asked; and how it stood."""
    ask = state.asks.get(key)
    if ask is None:
        return state, None
    asks = {name: one for name, one in state.asks.items() if name != key}
    left = {place: _without(bundle, key) for place, bundle in state.bundles.items()}
    return replace(state, asks=asks, bundles={place: one for place, one in left.items() if one.matters}), ask


def _without(bundle: AskBundle, key: str) -> AskBundle:
    left = tuple(one for one in bundle.matters if one.key != key)
    return bundle if len(left) == len(bundle.matters) else replace(bundle, matters=left)


def next_due(state: AttentionState) -> float | None:
    """When the rules must be asked again."""
    dues = [due for ask in state.asks.values() for due in (ask.due, ask.left_due)]
    return min((due for due in (*dues, state.held_due) if due is not None), default=None)


def looked(state: AttentionState, settings: AttentionSettings, around: Situation) -> AttentionState:
    """After somebody began to look at something else: an ask that was on their screen, and is not any more, is due."""
    for ask in state.asks.values():
        if ask.postponed and not ask.places:
            is_here = is_present(state, ask.matter, settings, around)
            due = None if is_here else ask.left_due or around.now + LEFT_SECONDS
            state = state if due == ask.left_due else _with(state, replace(ask, left_due=due))
    return state


def wake(state: AttentionState, settings: AttentionSettings, around: Situation) -> Moved:
    """The state after some time has passed, and who is buzzed now."""
    due = [key for key, ask in state.asks.items() if _is_due(ask, around.now)]
    state, buzzes = _wake_asks(state, due, settings, around)
    state, asked = _together(state, buzzes)
    state, told = _wake_held(state, settings, around)
    return state, (*asked, *told)


def _wake_asks(
    state: AttentionState, keys: Iterable[str], settings: AttentionSettings, around: Situation
) -> tuple[AttentionState, tuple[Buzz, ...]]:
    buzzes: list[Buzz] = []
    for key in keys:
        ask, buzz = _next_step(state, state.asks[key], settings, around)
        state = _with(state, ask)
        buzzes += [buzz] if buzz else []
    return state, tuple(buzzes)


def _is_due(ask: WaitingAsk, now: float) -> bool:
    return any(due is not None and due <= now for due in (ask.due, ask.left_due))


def _next_step(
    state: AttentionState, ask: WaitingAsk, settings: AttentionSettings, around: Situation
) -> tuple[WaitingAsk, Buzz | None]:
    if not _is_due(ask, around.now):
        return ask, None
    is_early, ask = ask.due is not None and ask.due > around.now, replace(ask, left_due=None, quiet=False)
    if is_early and is_present(state, ask.matter, settings, around):
        # They are back, or sit at the desk.
        return ask, None
    places = around.places(ask.matter)
    if not places:
        return replace(ask, due=None), None
    if (end := quiet_end(settings, ask.matter.kind, around.now)) is not None:
        return replace(ask, due=end, quiet=True), None
    # What has buzzed before waits while somebody is there.
    if ask.places and is_present(state, ask.matter, settings, around):
        return replace(ask, due=around.now + settings.next_minutes * 60), None
    place = places[ask.step % len(places)]
    step = ask.step + 1
    wait = settings.next_minutes if step == 1 else settings.again_minutes
    due = around.now + wait * 60 if step < LAST_STEP else None
    told = replace(ask, step=step, due=due, places=(*ask.places, place))
    return told, Buzz(place=place, matters=(ask.matter,), step=step)


def _together(state: AttentionState, buzzes: tuple[Buzz, ...]) -> Moved:
    """Many asks that come due at one moment, as after a quiet night, are one notification at each place; what is left
    of them comes again as one."""
    told: list[Buzz] = []
    for place in dict.fromkeys(one.place for one in buzzes):
        here = [one for one in buzzes if one.place == place]
        matters, before = tuple(one.matters[0] for one in here), state.bundles.get(place)
        known = before.matters if before else ()
        if len(here) > MOST_ASKS_AT_ONCE or any(one in known for one in matters):
            beside = tuple(one for one in known if one not in matters)
            # The step of the first of them: no other notification that begins with it has this one.
            several = Buzz(place=place, matters=matters, step=here[0].step, several=True, beside=beside)
            here = [replace(several, replaces=before.key) if before else several]
            state = _bundled(state, here[0])
        told += here
    return state, tuple(told)


def _bundled(state: AttentionState, buzz: Buzz) -> AttentionState:
    """The state with that notification of several asks in place of the one before it."""
    for matter in buzz.matters:
        ask = state.asks[matter.key]
        state = _with(state, replace(ask, together=(*ask.together, buzz.place)))
    return replace(state, bundles={**state.bundles, buzz.place: AskBundle(key=buzz.key, matters=buzz.shown)})


def _wake_held(state: AttentionState, settings: AttentionSettings, around: Situation) -> Moved:
    if state.held_due is None or state.held_due > around.now:
        return state, ()
    ends = [end for one in state.held if (end := quiet_end(settings, one.kind, around.now)) is not None]
    if ends:
        return replace(state, held_due=max(ends)), ()
    # What the person has come to see meanwhile is no news.
    news = tuple(one for one in state.held if one.at >= state.seen_at and one.worker not in around.looked_at)
    buzzed = (*state.buzzed, around.now)[-BURST:]
    state = replace(state, held=(), held_due=None, buzzed=buzzed)
    places = around.places(news[0]) if len(news) == 1 else around.places(Matter(key="", kind=AttentionKind.NODE, at=0))
    return state, ((Buzz(place=places[0], matters=news),) if news and places else ())


def settings_changed(state: AttentionState, now: float) -> AttentionState:
    """After the person set something else: what a quiet time holds is looked at anew, for it may be over."""
    asks = {key: replace(one, due=now) if one.quiet else one for key, one in state.asks.items()}
    return replace(state, asks=asks, held_due=now if state.held else None)


def renew(state: AttentionState, settings: AttentionSettings, now: float) -> AttentionState:
    """After something that can buzz was added: asks that had no place to buzz at are due again, a little later."""
    due = now + settings.next_minutes * 60
    asks = {key: replace(one, due=due) if _had_no_place(one) else one for key, one in state.asks.items()}
    return replace(state, asks=asks)


def _had_no_place(ask: WaitingAsk) -> bool:
    return ask.due is None and ask.step < LAST_STEP


def seen(state: AttentionState, at: float, *, desk: bool = False) -> AttentionState:
    """After the person did something: they are there, and an absence before it is over; elsewhere than at the desk,
    they have left it."""
    if at - state.seen_at > AWAY_SECONDS and state.seen_at:
        state = replace(state, away_from=state.seen_at, away_to=at)
    return replace(state, seen_at=max(at, state.seen_at), desk_at=at if desk else 0.0)


def missed(state: AttentionState, now: float) -> tuple[Matter, ...]:
    """What happened while nobody was there: in this absence, or in the last one that is over."""
    if now - state.seen_at > AWAY_SECONDS:
        return tuple(one for one in state.log if one.at > state.seen_at)
    return tuple(one for one in state.log if state.away_from < one.at <= state.away_to)

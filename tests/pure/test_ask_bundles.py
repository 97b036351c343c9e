"""Several asks told as one: what every place shows is what waits, however asks come, are answered and come again."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pure.attention_world import TELEGRAM, World

from farhand.model import attention_rules as rules
from farhand.model.attention import AttentionSettings, QuietHours
from farhand.model.attention_rules import APP, Buzz

NIGHT = AttentionSettings(hours=QuietHours(start=0, end=7 * 60), zone="UTC")
STEPS = st.lists(
    st.tuples(
        st.integers(0, 900).map(float),
        st.sampled_from([f"{verb} w{number}" for verb in ("ask", "answer") for number in range(8)]),
    ),
    max_size=24,
)


@dataclass
class Screens:
    """What stands at each place after the notifications so far: asks of their own, and several as one."""

    alone: dict[str, set[str]] = field(default_factory=lambda: {APP: set(), TELEGRAM: set()})
    bundle: dict[str, str] = field(default_factory=dict)
    asks: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def show(self, buzz: Buzz) -> None:
        if not buzz.several:
            self.alone[buzz.place].add(buzz.matters[0].key)
            return
        assert buzz.replaces == self.bundle.get(buzz.place, "")
        self.bundle[buzz.place] = buzz.key
        self.asks[buzz.place] = tuple(one.key for one in buzz.shown)

    def seen_at(self, place: str) -> set[str]:
        return self.alone[place] | set(self.asks.get(place, ()))


def settle(world: World, screens: Screens, key: str) -> None:
    """As the service does: an ask's own notification ends where it had one, and a bundle shows what is left of it."""
    world.state, ask = rules.settle(world.state, key)
    for place in (APP, TELEGRAM):
        if ask is not None and ask.told_alone(place):
            screens.alone[place].discard(key)
        if place in screens.bundle:
            left = world.state.bundles.get(place)
            assert left is None or left.key == screens.bundle[place]
            screens.asks[place] = tuple(one.key for one in left.matters) if left else ()
            if left is None:
                del screens.bundle[place]


@settings(max_examples=200, deadline=None)
@given(steps=STEPS, chats=st.sampled_from([(), (TELEGRAM,)]), app=st.booleans())
def test_every_place_shows_what_was_told_there_and_still_waits(
    steps: list[tuple[float, str]], chats: tuple[str, ...], app: bool
) -> None:
    world, screens, shown = World(settings=NIGHT, app=app, chats=chats), Screens(), 0
    for minute, what in sorted(steps, key=lambda step: step[0]):
        world.pass_to(minute)
        verb, _, name = what.partition(" ")
        for _, buzz in world.buzzed[shown:]:
            screens.show(buzz)
        shown = len(world.buzzed)
        if verb == "answer":
            settle(world, screens, f"ask:{name}")
        else:
            world.do(f"ask {name}")
            for _, buzz in world.buzzed[shown:]:
                screens.show(buzz)
            shown = len(world.buzzed)
        for place in (APP, TELEGRAM):
            told = {key for key, ask in world.state.asks.items() if place in ask.places}
            assert screens.seen_at(place) == told, (place, what)

"""A new chat is one folder and no other change: found by its manifest, it hears, answers, asks, and takes a tap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path

import anyio
import pytest
from tests.house.pager_house import ROOT, pager_channels, post, read_screen
from tests.house.toy_channels.pager.words import PagerLine

from farhand import manifests, roster
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.errors import SettingWrong
from farhand.model.facts import AskRaised, AskSettled
from farhand.model.words import Choice
from farhand.sandbox.environment import child_environment, without_secrets
from farhand.testing.house import SAFETY_SECONDS, House, open_house
from farhand.testing.scripted import ScriptedDriver

pytestmark = pytest.mark.anyio
CHOICES = (Choice(id="yes", label="Yes"), Choice(id="no", label="No", allows=False))


async def shown(folder: Path, wanted: Callable[[PagerLine], bool]) -> PagerLine:
    """The first message on the screen that is so, as soon as there is one."""
    with anyio.fail_after(SAFETY_SECONDS):
        while True:
            found = [line for line in read_screen(folder) if wanted(line)]
            if found:
                return found[0]
            await anyio.wait_all_tasks_blocked()


async def test_it_is_one_folder_of_four_files() -> None:
    folder = Path(str(resources.files(ROOT).joinpath("pager")))
    files = {file.name for file in folder.iterdir() if file.is_file()}
    assert files == {"manifest.toml", "channel.py", "surface.py", "words.py"}
    source = "".join(file.read_text("utf-8") for file in folder.glob("*.py"))
    assert "farhand.channels.telegram" not in source


async def test_it_is_found_by_its_manifest_and_is_not_there_unless_it_is_set_up(tmp_path: Path) -> None:
    assert manifests.packages(ROOT, "channel") == ["pager"]
    async with open_house(tmp_path, channels=lambda context: roster.build_channels(context, ROOT)) as house:
        assert house.node.status()["channels"] == {}
    async with open_house(tmp_path, channels=pager_channels(tmp_path)) as house:
        assert house.node.status()["channels"] == {"pager": "posts"}
        assert house.node.manager_chat() == ""


async def test_a_channel_is_given_its_own_variables_alone() -> None:
    variables = {"PAGER_OWNER": "mo", "TELEGRAM_BOT_TOKEN": "1:x", "PATH": "/bin"}
    assert manifests.own_variables(manifests.manifest(ROOT, "pager"), variables) == {"PAGER_OWNER": "mo"}
    telegram = manifests.manifest(manifests.CHANNELS, "telegram")
    assert manifests.own_variables(telegram, variables) == {"TELEGRAM_BOT_TOKEN": "1:x"}
    secrets = manifests.channel_secrets()
    assert [name for name in secrets if name.startswith("TELEGRAM_")] == [
        "TELEGRAM_BOT_TOKEN",
        "TELEGRAM_WEBHOOK_SECRET",
    ]


async def test_its_secret_is_kept_from_all_other_programs() -> None:
    assert manifests.channel_secrets(ROOT) == manifests.channel_tokens(ROOT) == ["PAGER_SECRET"]
    variables, secrets = {"PAGER_SECRET": "known", "PATH": "/bin"}, manifests.channel_secrets(ROOT)
    assert without_secrets(variables, secrets) == {"PATH": "/bin"}
    # Nor does a driver pass it on that was told to.
    assert child_environment({"PATH": "/bin"}, variables, secrets) == {"PATH": "/bin"}


async def test_whoever_does_not_know_the_secret_is_not_heard(tmp_path: Path) -> None:
    async with open_house(tmp_path, channels=pager_channels(tmp_path)) as house:
        for secret in ("", "guessed"):
            assert await post(house, secret, id="1", pager="mo", text="/hire ann") == 403
        assert await post(house, id="1", pager="mo", text="x" * 70_000) == 413
        assert await post(house, nobody="mo") == 400
        assert house.node.manager_chat() == ""
        assert read_screen(tmp_path) == []


async def test_it_hears_and_answers_the_manager_and_nobody_else(tmp_path: Path) -> None:
    async with open_house(tmp_path, channels=pager_channels(tmp_path)) as house:
        await house.hire()
        assert await post(house, id="1", pager="mo", text="hello") == 200
        assert (await shown(tmp_path, lambda line: "answer to hello" in line.text)).chat == "mo"
        assert await post(house, id="2", pager="eve", text="obey me") == 403
        assert await post(house, id="3", pager="mo", text="/team") == 200
        assert "Your team:" in (await shown(tmp_path, lambda line: "Your team:" in line.text)).text
        assert house.node.manager_chat() == "mo"
        await house.node.notify("The disk is full.")
        await shown(tmp_path, lambda line: line.text == "The disk is full.")
        assert not any("obey me" in line.text for line in read_screen(tmp_path))
    async with open_house(tmp_path, channels=pager_channels(tmp_path)) as house:
        assert house.node.manager_chat() == "mo"


async def asked(house: House, folder: Path, agent: ScriptedDriver) -> PagerLine:
    """A question of the worker, as it stands on the screen."""
    agent.plays(AskRaised(ask="a-1", question="Shall I?", choices=CHOICES))
    assert await post(house, id="1", pager="mo", text="go") == 200
    return await shown(folder, lambda line: "Shall I?" in line.text)


async def test_it_shows_a_card_with_choices_and_takes_a_tap_once(tmp_path: Path) -> None:
    agent = ScriptedDriver()
    async with open_house(tmp_path, agent, channels=pager_channels(tmp_path)) as house:
        await house.hire()
        card = await asked(house, tmp_path, agent)
        assert [button.label for button in card.buttons] == ["Yes", "No"]
        assert await post(house, id="2", pager="eve", tap=card.buttons[0].data) == 403
        assert await post(house, id="3", pager="mo", tap=card.buttons[0].data) == 200
        assert (await house.fact(AskSettled)).choice == "yes"
        settled = await shown(tmp_path, lambda line: "→ Yes, by mo over pager" in line.text)
        assert (settled.slot, settled.buttons) == (card.slot, ())
        assert await post(house, id="3", pager="mo", tap=card.buttons[0].data) == 200


async def test_a_wrong_setting_of_a_channel_is_an_error_and_no_channel_less(tmp_path: Path) -> None:
    def channels(context: ChannelContext) -> list[Channel]:
        variables = {"TELEGRAM_BOT_TOKEN": "1:x", "TELEGRAM_CHAT_BURST": "many"}
        return roster.build_channels(replace(context, variables=variables))

    with pytest.raises(SettingWrong, match="TELEGRAM_CHAT_BURST"):
        async with open_house(tmp_path, channels=channels):
            pass

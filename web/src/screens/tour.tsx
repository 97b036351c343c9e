/** Four cards on the first visit, and never again. */

import { useState } from "preact/hooks";
import { Icon } from "../parts/icon";
import type { PixelName } from "../parts/pixels";
import { Sheet } from "../parts/sheet";
import { useApp } from "../state/context";
import { type TextKey, t } from "../texts";

const CARDS: readonly { icon: PixelName; title: TextKey; text: TextKey }[] = [
  { icon: "team", title: "tourTeam", text: "tourTeamText" },
  { icon: "inbox", title: "tourAsks", text: "tourAsksText" },
  { icon: "files", title: "tourFolds", text: "tourFoldsText" },
  { icon: "offline", title: "tourOffline", text: "tourOfflineText" },
];

export function Tour() {
  const { actions } = useApp();
  const [place, setPlace] = useState(0);
  const card = CARDS[place];
  const last = place === CARDS.length - 1;
  const done = () => actions.set({ toured: true });
  if (!card) return null;
  return (
    <Sheet
      title={t("partOf", { n: place + 1, all: CARDS.length })}
      onClose={done}
      foot={
        <div class="buttons">
          <button type="button" class="button" onClick={() => (place ? setPlace(place - 1) : done())}>
            {place ? t("back") : t("skip")}
          </button>
          <button type="button" class="button primary" onClick={() => (last ? done() : setPlace(place + 1))}>
            {last ? t("begin") : t("next")}
          </button>
        </div>
      }
    >
      <div class="tour">
        <Icon name={card.icon} size={72} />
        <h3>{t(card.title)}</h3>
        <p class="dim">{t(card.text)}</p>
      </div>
    </Sheet>
  );
}

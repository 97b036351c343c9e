/** Settings of this device, and the way to everything that is needed rarely. */

import { Icon } from "../parts/icon";
import type { PixelName } from "../parts/pixels";
import { address, openSheet } from "../parts/route";
import { useApp } from "../state/context";
import type { Settings } from "../state/types";
import { LANGUAGE_NAMES, LANGUAGES, type TextKey, t } from "../texts";

export function MoreScreen() {
  return (
    <>
      <header class="top plain">
        <h1 class="grow">{t("more")}</h1>
      </header>
      <div class="body">
        <ul class="links">
          <LinkRow icon="bell" text="notifications" href={address({ screen: "notifications" })} />
          <LinkRow icon="phone" text="devices" href={address({ screen: "devices" })} />
          <LinkRow icon="search" text="search" href={address({ screen: "search" })} />
          <LinkRow icon="clock" text="sessions" href={address({ screen: "sessions" })} />
          <LinkRow icon="bolt" text="sprints" href={address({ screen: "sprints" })} />
        </ul>
        <h2 class="section">{t("look")}</h2>
        <Setting name="theme" label="theme" values={{ system: t("likeSystem"), dark: t("dark"), light: t("light") }} />
        <Setting
          name="textSize"
          label="textSize"
          values={{ small: t("small"), normal: t("normal"), large: t("large") }}
        />
        <Setting
          name="language"
          label="language"
          values={{
            system: t("likeSystem"),
            ...Object.fromEntries(LANGUAGES.map((one) => [one, LANGUAGE_NAMES[one]])),
          }}
        />
        <h2 class="section">{t("readingAndWriting")}</h2>
        <Switch name="wrapCode" label="wrapCode" />
        <Switch name="wrapDiff" label="wrapDiff" />
        <Switch name="enterSends" label="enterSends" hint="enterSendsHint" />
        <Setting
          name="voice"
          label="voice"
          values={{ auto: t("voiceAuto"), node: t("voiceNode"), browser: t("voiceBrowser") }}
        />
        <p class="small dim">{t("voiceHint")}</p>
        <div class="stack">
          <TourButton />
          <button type="button" class="button wide-only" onClick={() => openSheet("keys")}>
            {t("shortcuts")}
          </button>
        </div>
      </div>
    </>
  );
}

function LinkRow({ icon, text, href }: { icon: PixelName; text: TextKey; href: string }) {
  return (
    <li>
      <a class="link-row" href={href}>
        <Icon name={icon} />
        <span class="grow">{t(text)}</span>
        <span class="faint">
          <Icon name="fold" size={12} />
        </span>
      </a>
    </li>
  );
}

type ListSetting = "theme" | "textSize" | "language" | "voice";
type SwitchSetting = "wrapCode" | "wrapDiff" | "enterSends";

function Setting({
  name,
  label,
  values,
}: {
  name: ListSetting;
  label: TextKey;
  values: Readonly<Record<string, string>>;
}) {
  const { settings, actions } = useApp();
  return (
    <label class="setting">
      <span class="grow">{t(label)}</span>
      <select
        class="input"
        value={settings.value[name]}
        onChange={(event) => actions.set({ [name]: event.currentTarget.value } as Partial<Settings>)}
      >
        {Object.entries(values).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

function Switch({ name, label, hint }: { name: SwitchSetting; label: TextKey; hint?: TextKey }) {
  const { settings, actions } = useApp();
  return (
    <label class="setting">
      <span class="grow">
        {t(label)}
        {hint ? <span class="small dim block">{t(hint)}</span> : null}
      </span>
      <input
        type="checkbox"
        role="switch"
        aria-checked={settings.value[name]}
        class="switch"
        checked={settings.value[name]}
        onChange={(event) => actions.set({ [name]: event.currentTarget.checked })}
      />
    </label>
  );
}

function TourButton() {
  const { actions } = useApp();
  return (
    <button type="button" class="button" onClick={() => actions.set({ toured: false })}>
      {t("tourAgain")}
    </button>
  );
}

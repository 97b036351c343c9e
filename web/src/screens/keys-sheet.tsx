/** The keyboard shortcuts, shown by `?`. */

import { Sheet } from "../parts/sheet";
import { SHORTCUTS } from "../parts/shortcuts";
import { t } from "../texts";

export function KeysSheet() {
  return (
    <Sheet title={t("shortcuts")}>
      <dl class="keys-list">
        {SHORTCUTS.map(({ keys, text }) => (
          <>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{t(text)}</dd>
          </>
        ))}
      </dl>
    </Sheet>
  );
}

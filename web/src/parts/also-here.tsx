/** Who else looks at this worker right now, or sits with it at the desk. */

import { useApp } from "../state/context";
import { t } from "../texts";

export function AlsoHere({ worker }: { worker: string }) {
  const here = useApp().here.value.filter((one) => one.worker === worker);
  const names = [...new Set(here.map((one) => one.name || t("somebodyAtDesk")))];
  return (
    <p class="also-here small dim one" role="status" hidden={names.length === 0}>
      {names.length > 0 ? t("alsoHere", { names: names.join(", ") }) : ""}
    </p>
  );
}

/** While you were away: five lines at most, each of which leads to what it tells of. */

import { useEffect, useState } from "preact/hooks";
import { useApp } from "../state/context";
import type { DigestLine } from "../state/types";
import { type TextKey, t } from "../texts";
import { address } from "./route";
import { Shown } from "./visible";

const ONE: Readonly<Record<DigestLine["kind"], TextKey | "">> = {
  ask: "digestAsk",
  finished: "digestFinished",
  failed: "digestFailed",
  limit: "digestLimit",
  offline: "digestOffline",
  sprint: "digestSprint",
  node: "",
};
const MANY: Partial<Record<DigestLine["kind"], TextKey>> = { ask: "digestAsks", finished: "digestFinishedMany" };

export function Digest() {
  const { actions, connection } = useApp();
  const [lines, setLines] = useState<readonly DigestLine[]>([]);
  const live = connection.value.link === "live";
  useEffect(() => {
    if (live) void actions.digest().then(setLines, () => undefined);
  }, [live]);
  if (lines.length === 0) return null;
  return (
    <section aria-labelledby="digest">
      <h2 class="section" id="digest">
        {t("whileAway")}
      </h2>
      <ul class="links digest">
        {lines.map((line) => (
          <li key={line.key}>
            <a class="link-row" href={placeOf(line)}>
              <span class="grow one">
                <Shown text={wordsOf(line)} />
              </span>
              {line.more ? <span class="small dim">{t("digestMore", { n: line.more })}</span> : null}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function wordsOf(line: DigestLine): string {
  const many = (line.count ?? 1) > 1 ? MANY[line.kind] : undefined;
  const key = many ?? ONE[line.kind];
  return key === ""
    ? (line.text ?? "")
    : t(key, { worker: line.worker ?? "", text: line.text ?? "", n: line.count ?? 1 });
}

function placeOf(line: DigestLine): string {
  const worker = line.worker ?? "";
  if (worker === "") return address({ screen: "inbox" });
  return address({ worker, sheet: line.kind === "ask" ? line.key : "" });
}

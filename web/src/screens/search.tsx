/** Finds what was said, with any worker. */

import { useEffect, useState } from "preact/hooks";
import { tint } from "../parts/backend";
import { focused } from "../parts/focus";
import { Icon } from "../parts/icon";
import { Notice } from "../parts/notice";
import { address, go } from "../parts/route";
import { sought } from "../parts/seek";
import { ago } from "../parts/times";
import { Shown } from "../parts/visible";
import { useApp } from "../state/context";
import type { Found } from "../state/types";
import { t } from "../texts";

const PAUSE_MILLISECONDS = 200;

export function SearchScreen() {
  const { actions, clock, team } = useApp();
  const [query, setQuery] = useState("");
  const [found, setFound] = useState<readonly Found[]>();
  const [problem, setProblem] = useState("");
  const [tries, setTries] = useState(0);
  useEffect(() => {
    setProblem("");
    if (query.trim().length < 2) {
      setFound(undefined);
      return undefined;
    }
    let wanted = true;
    const timer = setTimeout(
      () =>
        void actions.search(query.trim()).then(
          (all) => wanted && setFound(all),
          (error) => wanted && setProblem(error instanceof Error ? error.message : String(error)),
        ),
      PAUSE_MILLISECONDS,
    );
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [query, actions, tries]);
  const open = (place: Found) => {
    sought.value = { worker: place.worker, seq: place.seq };
    go({ worker: place.worker });
    void actions.loadAround(place.worker, place.seq);
  };
  return (
    <>
      <header class="top">
        <a class="icon-button" href={address({})} aria-label={t("back")}>
          <Icon name="back" />
        </a>
        <h1 class="unseen">{t("search")}</h1>
        <input
          class="input grow"
          type="search"
          value={query}
          ref={focused}
          aria-label={t("search")}
          placeholder={t("searchPlaceholder")}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
      </header>
      <div class="body">
        {problem ? (
          <Notice icon="warn" text={problem}>
            <button type="button" class="button" onClick={() => setTries(tries + 1)}>
              {t("tryAgain")}
            </button>
          </Notice>
        ) : null}
        {found === undefined && !problem ? <Notice icon="search" text={t("searchExplained")} /> : null}
        {found?.length === 0 ? <Notice icon="search" text={t("nothingFound", { query })} /> : null}
        <ul class="workers">
          {found?.map((place) => (
            <li key={`${place.worker}-${place.seq}`}>
              <button
                type="button"
                class={`worker ${tint(team.value?.find((one) => one.name === place.worker)?.backend ?? "")}`}
                onClick={() => open(place)}
              >
                <span class="grow">
                  <span class="worker-first">
                    <span class="name grow">{place.worker}</span>
                    <span class="small faint">{ago(place.at, clock.value)}</span>
                  </span>
                  <span class="excerpt small">
                    <Marked text={place.excerpt} query={query} />
                  </span>
                </span>
              </button>
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}

function Marked({ text, query }: { text: string; query: string }) {
  const words = query.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1);
  if (words.length === 0) return <Shown text={text} />;
  const parts = text.split(new RegExp(`(${words.join("|")})`, "giu"));
  return (
    <>{parts.map((part, index) => (index % 2 ? <mark key={index}>{part}</mark> : <Shown key={index} text={part} />))}</>
  );
}

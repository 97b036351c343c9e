/** One worker's conversation: who it is and how it stands, what was said and done, what it asks, where one writes. */

import { Component } from "preact";
import { useEffect } from "preact/hooks";
import { useAbilities } from "../parts/abilities";
import { AlsoHere } from "../parts/also-here";
import { AskCard } from "../parts/ask-card";
import { brandOf, Sign, tint } from "../parts/backend";
import { Composer } from "../parts/composer";
import { EventLine } from "../parts/event-line";
import { inTwo, shortFolder } from "../parts/folders";
import { Icon } from "../parts/icon";
import { Message } from "../parts/message";
import { MODE_TEXTS } from "../parts/modes";
import { Loading, Notice } from "../parts/notice";
import { QueueLine } from "../parts/queue";
import { ReviewPanel } from "../parts/review-panel";
import { address, openSheet, route } from "../parts/route";
import { Scroller } from "../parts/scroller";
import { rowOf, sought } from "../parts/seek";
import { SprintLine } from "../parts/sprint";
import { StateWords } from "../parts/state-words";
import { Tries } from "../parts/tries";
import { Turn } from "../parts/turn";
import { useApp, useMayWrite } from "../state/context";
import type { Row, Worker } from "../state/types";
import { begun, t, told } from "../texts";

export function ConversationScreen({ worker }: { worker: Worker }) {
  const { actions } = useApp();
  useEffect(() => {
    actions.look(worker.name);
    return () => actions.look("");
  }, [worker.name, actions]);
  return (
    <div class={`conversation ${tint(worker.backend)}`}>
      <ConversationTop worker={worker} />
      <AlsoHere worker={worker.name} />
      <Trouble worker={worker} />
      <Rows key={worker.name} worker={worker} />
      <div class="waiting-asks">
        {worker.asks.map((ask, place) => (
          <AskCard key={ask.id} ask={ask} place={place} worker={worker} />
        ))}
      </div>
      <ReviewPanel key={`reviews ${worker.name}`} worker={worker} />
      <SprintLine worker={worker} />
      <QueueLine worker={worker} />
      <Tries worker={worker} />
      <Composer worker={worker} />
    </div>
  );
}

function ConversationTop({ worker }: { worker: Worker }) {
  const how = [worker.model || brandOf(worker.backend).name, t(MODE_TEXTS[worker.mode])];
  const [above, folder] = inTwo(shortFolder(worker.directory));
  const { side } = route.value;
  const files = side === "files";
  const { pane } = useAbilities(worker);
  return (
    <header class="top">
      <a class="icon-button back" href={address({})} aria-label={t("backToTeam")}>
        <Icon name="back" />
      </a>
      <Sign backend={worker.backend} />
      <div class="grow">
        <h1>
          <span class="one">{worker.name}</span>
          <span class="small dim one">
            <StateWords worker={worker} />
          </span>
        </h1>
        <p class="small dim top-where">
          <span class="one">
            <bdi>{above}</bdi>
          </span>
          <span class="one">{folder}</span>
          <span class="one"> · {how.join(" · ")}</span>
        </p>
      </div>
      {pane ? (
        <a
          class="icon-button"
          href={address({ worker: worker.name, side: side === "terminal" ? "" : "terminal" })}
          aria-label={t("terminal")}
          aria-current={side === "terminal" ? "true" : undefined}
        >
          <Icon name="terminal" />
        </a>
      ) : null}
      <a
        class="icon-button"
        href={address({ worker: worker.name, side: files ? "" : "files" })}
        aria-label={files ? t("closeFiles") : t("filesAndChanges")}
        aria-current={files ? "true" : undefined}
      >
        <Icon name="files" />
      </a>
      <button
        type="button"
        class="icon-button"
        aria-label={t("aboutWorker", { name: worker.name })}
        onClick={() => openSheet("worker", worker.name)}
      >
        <Icon name="dots" />
      </button>
    </header>
  );
}

/** A worker that cannot go on says why, with the one thing to do about it. */
function Trouble({ worker }: { worker: Worker }) {
  const { actions } = useApp();
  const mayWrite = useMayWrite();
  if (worker.state === "offline") {
    return (
      <div class="banner" role="status">
        <span class="bad grow">{begun(told(worker.whyOffline, worker.whyOfflinePhrase)) || t("offline")}</span>
        {mayWrite ? (
          <button type="button" class="text-button" onClick={() => void actions.relaunch(worker.name)}>
            {t("relaunch")}
          </button>
        ) : null}
      </div>
    );
  }
  if (worker.state === "limited") {
    return (
      <div class="banner" role="status">
        <span class="grow">
          {worker.limitText || t("limited")} · <StateWords worker={worker} />
        </span>
        {mayWrite ? (
          <button type="button" class="text-button" onClick={() => void actions.tryAgain(worker.name)}>
            {t("tryNow")}
          </button>
        ) : null}
      </div>
    );
  }
  return null;
}

function Rows({ worker }: { worker: Worker }) {
  const app = useApp();
  const { actions } = app;
  const talk = app.conversation(worker.name);
  const waiting = new Set(worker.queue.map((message) => message.id));
  // What waits is told above the composer, where it can be changed.
  const rows = talk.rows.value.filter((row) => row.kind !== "message" || !waiting.has(row.id));
  const status = talk.status.value;
  if (rows.length === 0 && status === "loading")
    return (
      <div class="rows-empty">
        <Loading text={t("loadingConversation")} rows={5} />
      </div>
    );
  if (status === "failed" && rows.length === 0) {
    return (
      <div class="rows-empty">
        <Notice icon="warn" text={talk.problem.value || t("couldNotLoad")}>
          <button type="button" class="button" onClick={() => void actions.loadOlder(worker.name)}>
            {t("tryAgain")}
          </button>
        </Notice>
      </div>
    );
  }
  if (rows.length === 0)
    return (
      <div class="rows-empty greeting">
        <Notice icon={brandOf(worker.backend).sign} text={t("sayHello", { name: worker.name })} />
      </div>
    );
  return (
    <Scroller
      rows={rows}
      row={(row) => <RowView key={row.key} row={row} worker={worker.name} />}
      more={talk.more.value}
      loading={talk.loadingOlder.value}
      onOlder={() => void actions.loadOlder(worker.name)}
      label={t("conversationWith", { name: worker.name })}
      fresh={worker.unread > 0}
      seek={rowOf(rows, sought.value, worker.name)}
      onFound={() => {
        sought.value = null;
      }}
    />
  );
}

/** A row is made anew only when it is another object. */
class RowView extends Component<{ row: Row; worker: string }> {
  override shouldComponentUpdate(next: { row: Row }): boolean {
    return next.row !== this.props.row;
  }

  override render({ row, worker }: { row: Row; worker: string }) {
    return (
      <div class="row" data-key={row.key}>
        {row.kind === "message" ? (
          <Message row={row} worker={worker} />
        ) : row.kind === "turn" ? (
          <Turn row={row} worker={worker} />
        ) : (
          <EventLine row={row} worker={worker} />
        )}
      </div>
    );
  }
}

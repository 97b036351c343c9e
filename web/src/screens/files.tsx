/** What changed in a worker's folder: one file at a time, lines to comment on, and all comments as one message. */

import { useEffect, useState } from "preact/hooks";
import { asMessage, commentOn, type LineComment } from "../parts/diff/comments";
import { DiffLines } from "../parts/diff/diff-lines";
import { type DiffLine, type FileDiff, parseDiff } from "../parts/diff/parse";
import { focused } from "../parts/focus";
import { Icon } from "../parts/icon";
import { Loading, Notice } from "../parts/notice";
import { address, go } from "../parts/route";
import { Shown } from "../parts/visible";
import { useApp } from "../state/context";
import type { Worker } from "../state/types";
import { t } from "../texts";
import { FolderView } from "./folder";

export function FilesScreen({ worker, turn }: { worker: Worker; turn: string }) {
  const { actions } = useApp();
  const [files, setFiles] = useState<readonly FileDiff[]>();
  const [cut, setCut] = useState(false);
  const [browsing, setBrowsing] = useState(false);
  const [problem, setProblem] = useState("");
  const [place, setPlace] = useState(-1);
  const [comments, setComments] = useComments(worker.name);
  const load = () => {
    setProblem("");
    actions.changes(worker.name, turn || undefined).then(
      ({ patch, cut }) => {
        setFiles(parseDiff(patch));
        setCut(cut);
      },
      (error: unknown) => setProblem(error instanceof Error ? error.message : t("couldNotLoad")),
    );
  };
  useEffect(load, [worker.workingSince === null]);
  const file = files?.[place];
  const send = () => {
    actions.say(worker.name, asMessage(comments, ""));
    setComments([]);
    go({ worker: worker.name });
  };
  return (
    <>
      {file ? (
        <FileTop file={file} place={place} all={files?.length ?? 0} onBack={() => setPlace(-1)} onMove={setPlace} />
      ) : (
        <FilesTop worker={worker} files={files} turn={turn} onReload={load} />
      )}
      {file || turn ? null : <Tabs browsing={browsing} onPick={setBrowsing} />}
      {browsing ? (
        <FolderView worker={worker} />
      ) : problem ? (
        <Notice icon="warn" text={problem}>
          <button type="button" class="button" onClick={load}>
            {t("tryAgain")}
          </button>
        </Notice>
      ) : files === undefined ? (
        <div class="body">
          <Loading text={t("loading")} />
        </div>
      ) : file ? (
        <OneFile key={file.path} file={file} comments={comments} onComments={setComments} />
      ) : (
        <FileList files={files} cut={cut} comments={comments} onOpen={setPlace} />
      )}
      {comments.length ? (
        <div class="foot buttons">
          <button type="button" class="button" onClick={() => setComments([])}>
            {t("dropComments")}
          </button>
          <button type="button" class="button primary" onClick={send}>
            {t("sendComments", { n: comments.length })}
          </button>
        </div>
      ) : null}
    </>
  );
}

interface FilesTopProps {
  readonly worker: Worker;
  readonly files: readonly FileDiff[] | undefined;
  readonly turn: string;
  readonly onReload: () => void;
}

function FilesTop({ worker, files, turn, onReload }: FilesTopProps) {
  const added = (files ?? []).reduce((sum, file) => sum + file.added, 0);
  const removed = (files ?? []).reduce((sum, file) => sum + file.removed, 0);
  return (
    <header class="top">
      <a class="icon-button" href={address({ worker: worker.name })} aria-label={t("backTo", { name: worker.name })}>
        <Icon name="back" />
      </a>
      <div class="grow">
        <h1 class="one">{turn ? t("changesOfTurn") : t("filesAndChanges")}</h1>
        <p class="small dim one">
          <Shown text={worker.directory} strict /> · <span class="ok">+{added}</span>{" "}
          <span class="bad">−{removed}</span>
        </p>
      </div>
      <button type="button" class="text-button" onClick={onReload}>
        {t("reload")}
      </button>
    </header>
  );
}

interface FileTopProps {
  readonly file: FileDiff;
  readonly place: number;
  readonly all: number;
  readonly onBack: () => void;
  readonly onMove: (place: number) => void;
}

function FileTop({ file, place, all, onBack, onMove }: FileTopProps) {
  const { settings, actions } = useApp();
  return (
    <header class="top">
      <button type="button" class="icon-button" aria-label={t("allFiles")} onClick={onBack}>
        <Icon name="back" />
      </button>
      <div class="grow">
        <h1 class="one">
          <Shown text={file.path} strict />
        </h1>
        <p class="small dim one">
          {t("partOf", { n: place + 1, all })} · <span class="ok">+{file.added}</span>{" "}
          <span class="bad">−{file.removed}</span>
        </p>
      </div>
      <button
        type="button"
        class="icon-button"
        aria-label={t("wrapLines")}
        aria-pressed={settings.value.wrapDiff}
        onClick={() => actions.set({ wrapDiff: !settings.value.wrapDiff })}
      >
        <Icon name="wrap" />
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label={t("previousFile")}
        disabled={place === 0}
        onClick={() => onMove(place - 1)}
      >
        <Icon name="up" />
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label={t("nextFile")}
        disabled={place === all - 1}
        onClick={() => onMove(place + 1)}
      >
        <Icon name="down" />
      </button>
    </header>
  );
}

/** What is changed, or all that is in the folder. */
function Tabs({ browsing, onPick }: { browsing: boolean; onPick: (browsing: boolean) => void }) {
  return (
    <div class="tabs">
      <button type="button" aria-pressed={!browsing} onClick={() => onPick(false)}>
        {t("changes")}
      </button>
      <button type="button" aria-pressed={browsing} onClick={() => onPick(true)}>
        {t("files")}
      </button>
    </div>
  );
}

interface FileListProps {
  readonly files: readonly FileDiff[];
  readonly cut: boolean;
  readonly comments: readonly LineComment[];
  readonly onOpen: (place: number) => void;
}

function FileList({ files, cut, comments, onOpen }: FileListProps) {
  if (files.length === 0) return <Notice icon="check" text={t("nothingChanged")} />;
  return (
    <ul class="body links">
      {files.map((file, place) => {
        const said = comments.filter((comment) => comment.path === file.path).length;
        return (
          <li key={file.path}>
            <button type="button" class="link-row" onClick={() => onOpen(place)}>
              <Icon name="files" />
              <span class="grow one">
                <Shown text={file.path} strict />
              </span>
              {said ? <span class="count">{said}</span> : null}
              <span class="small">
                <span class="ok">+{file.added}</span> <span class="bad">−{file.removed}</span>
              </span>
            </button>
          </li>
        );
      })}
      {cut ? <li class="small dim">{t("patchCut")}</li> : null}
    </ul>
  );
}

interface OneFileProps {
  readonly file: FileDiff;
  readonly comments: readonly LineComment[];
  readonly onComments: (comments: readonly LineComment[]) => void;
}

function OneFile({ file, comments, onComments }: OneFileProps) {
  const { settings } = useApp();
  const [from, setFrom] = useState<DiffLine>();
  const [to, setTo] = useState<DiffLine>();
  const lines = file.hunks.flatMap((hunk) => hunk.lines);
  const pick = (line: DiffLine) => {
    if (from && line !== from) setTo(line);
    else {
      setFrom(line === from ? undefined : line);
      setTo(undefined);
    }
  };
  const last = to && from && lines.indexOf(to) < lines.indexOf(from) ? from : (to ?? from);
  const picked = (line: DiffLine) => {
    if (!from) return false;
    const [a = 0, b = 0] = [lines.indexOf(from), lines.indexOf(to ?? from)].sort((one, other) => one - other);
    const place = lines.indexOf(line);
    return place >= a && place <= b;
  };
  const done = (text: string) => {
    if (from && text.trim()) onComments([...comments, commentOn(file.path, lines, from, to ?? from, text)]);
    setFrom(undefined);
    setTo(undefined);
  };
  return (
    <div class="diff-body">
      <DiffLines
        file={file}
        wrapped={settings.value.wrapDiff}
        onPick={pick}
        isPicked={picked}
        below={(line) => (
          <>
            {comments.map((comment, place) =>
              comment.path === file.path && isEndOf(comment, line) ? (
                <Said
                  key={place}
                  comment={comment}
                  onDrop={() => onComments(comments.filter((one) => one !== comment))}
                />
              ) : null,
            )}
            {line === last ? <Writing onDone={done} /> : null}
          </>
        )}
      />
      <p class="diff-hint small dim">{t("tapALine")}</p>
    </div>
  );
}

function isEndOf(comment: LineComment, line: DiffLine): boolean {
  return (comment.side === "old" ? line.kind === "removed" && line.before : line.after) === comment.to;
}

function Said({ comment, onDrop }: { comment: LineComment; onDrop: () => void }) {
  const lines = comment.from === comment.to ? String(comment.from) : `${comment.from}–${comment.to}`;
  return (
    <div class="card comment">
      <p class="small dim comment-top">
        <span class="grow">
          {comment.side === "old" ? t("yourCommentOld", { lines }) : t("yourComment", { lines })}
        </span>
        <button type="button" class="icon-button" aria-label={t("drop")} onClick={onDrop}>
          <Icon name="trash" />
        </button>
      </p>
      <p>
        <Shown text={comment.text} />
      </p>
    </div>
  );
}

function Writing({ onDone }: { onDone: (text: string) => void }) {
  const [text, setText] = useState("");
  return (
    <div class="card comment">
      <textarea
        class="input"
        rows={2}
        ref={focused}
        value={text}
        aria-label={t("comment")}
        placeholder={t("comment")}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div class="buttons">
        <button type="button" class="button" onClick={() => onDone("")}>
          {t("cancel")}
        </button>
        <button type="button" class="button primary" disabled={text.trim() === ""} onClick={() => onDone(text)}>
          {t("addComment")}
        </button>
      </div>
    </div>
  );
}

/** Comments that were not sent yet are kept on the phone, for each worker. */
function useComments(worker: string): [readonly LineComment[], (comments: readonly LineComment[]) => void] {
  const name = `comments:${worker}`;
  const [comments, setComments] = useState<readonly LineComment[]>(() => stored(name));
  const keep = (next: readonly LineComment[]) => {
    setComments(next);
    try {
      if (next.length) localStorage.setItem(name, JSON.stringify(next));
      else localStorage.removeItem(name);
    } catch {
      // A full or forbidden store costs the keeping, not the comments on the screen.
    }
  };
  return [comments, keep];
}

function stored(name: string): readonly LineComment[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(name) ?? "[]");
    return Array.isArray(found) ? (found as LineComment[]) : [];
  } catch {
    return [];
  }
}

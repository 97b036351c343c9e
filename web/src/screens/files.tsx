/** What changed in a worker's folder: one file at a time, lines to comment on, and all comments as one message. */

import { useEffect, useRef, useState } from "preact/hooks";
import { asMessage, type LineComment } from "../parts/diff/comments";
import { Counts } from "../parts/diff/counts";
import { useComments, useOpenComment } from "../parts/diff/kept-comments";
import { type FileDiff, parseDiff } from "../parts/diff/parse";
import { Icon } from "../parts/icon";
import { Loading, Notice } from "../parts/notice";
import { address, go } from "../parts/route";
import { Shown } from "../parts/visible";
import { useApp } from "../state/context";
import type { Worker } from "../state/types";
import { t } from "../texts";
import { FolderView } from "./folder";
import { OneFile } from "./one-file";

export function FilesScreen({ worker, turn }: { worker: Worker; turn: string }) {
  const { actions } = useApp();
  const { files, cut, problem, load } = useChanges(worker, turn);
  const [browsing, setBrowsing] = useState(false);
  const [shown, setShown] = useState<FileDiff>();
  const [comments, setComments] = useComments(worker.name);
  const [open, setOpen] = useOpenComment(worker.name, turn);
  // The changes are read anew while one reads them: the file that is shown stays it, wherever it is in the list now.
  const place = shown ? (files ?? []).findIndex((one) => one.path === shown.path) : -1;
  const file = files?.[place] ?? shown;
  useEffect(() => setShown(file), [file]);
  const send = () => {
    actions.say(worker.name, asMessage(comments, ""), { apart: true });
    setComments([]);
    go({ worker: worker.name });
  };
  return (
    <>
      {file ? (
        <FileTop
          file={file}
          place={place}
          all={files?.length ?? 0}
          onBack={() => setShown(undefined)}
          onMove={(next) => setShown(files?.[next])}
        />
      ) : (
        <FilesTop worker={worker} files={files} turn={turn} onReload={load} />
      )}
      {file || turn ? null : <Tabs browsing={browsing} onPick={setBrowsing} />}
      {problem && files ? (
        <p class="diff-hint small bad" role="alert">
          {problem}
        </p>
      ) : null}
      {browsing ? (
        <FolderView worker={worker} />
      ) : file ? (
        <OneFile
          key={file.path}
          file={file}
          isGone={place < 0}
          comments={comments}
          onComments={setComments}
          open={open}
          onOpen={setOpen}
        />
      ) : files ? (
        <FileList files={files} cut={cut} comments={comments} writing={open?.path} onOpen={setShown} />
      ) : problem ? (
        <Notice icon="warn" text={problem}>
          <button type="button" class="button" onClick={load}>
            {t("tryAgain")}
          </button>
        </Notice>
      ) : (
        <div class="body">
          <Loading text={t("loading")} />
        </div>
      )}
      {comments.length ? (
        <div class="foot buttons">
          <button type="button" class="button" onClick={() => setComments([])}>
            {t("dropComments")}
          </button>
          <button type="button" class="button primary" onClick={send}>
            {comments.length === 1 ? t("sendComment") : t("sendComments", { n: comments.length })}
          </button>
        </div>
      ) : null}
    </>
  );
}

/** The changes, read anew when the worker begins or ends a turn; of two answers the one that was asked for last counts. */
function useChanges(worker: Worker, turn: string) {
  const { actions } = useApp();
  const [files, setFiles] = useState<readonly FileDiff[]>();
  const [cut, setCut] = useState(false);
  const [problem, setProblem] = useState("");
  const asked = useRef(0);
  const load = () => {
    asked.current += 1;
    const mine = asked.current;
    actions.changes(worker.name, turn || undefined).then(
      ({ patch, cut }) => {
        if (mine !== asked.current) return;
        setProblem("");
        setFiles(parseDiff(patch));
        setCut(cut);
      },
      (error: unknown) => {
        if (mine === asked.current) setProblem(error instanceof Error ? error.message : t("couldNotLoad"));
      },
    );
  };
  useEffect(load, [worker.workingSince === null]);
  return { files, cut, problem, load };
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
          <Shown text={worker.directory} strict />
          <Counts added={added} removed={removed} before=" · " />
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
          {place < 0 ? null : t("partOf", { n: place + 1, all })}
          <Counts added={file.added} removed={file.removed} before={place < 0 ? "" : " · "} />
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
        disabled={place <= 0}
        onClick={() => onMove(place - 1)}
      >
        <Icon name="up" />
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label={t("nextFile")}
        disabled={place < 0 || place === all - 1}
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
  /** The file with the comment that is being written. */
  readonly writing: string | undefined;
  readonly onOpen: (file: FileDiff) => void;
}

function FileList({ files, cut, comments, writing, onOpen }: FileListProps) {
  if (files.length === 0) return <Notice icon="check" text={t("nothingChanged")} />;
  return (
    <ul class="body links">
      {files.map((file) => {
        const said = comments.filter((one) => one.path === file.path).length + (writing === file.path ? 1 : 0);
        return (
          <li key={file.path}>
            <button type="button" class="link-row" onClick={() => onOpen(file)}>
              <Icon name="files" />
              <span class="grow one">
                <Shown text={file.path} strict />
              </span>
              {said ? <span class="count">{said}</span> : null}
              <span class="small">
                <Counts added={file.added} removed={file.removed} />
              </span>
            </button>
          </li>
        );
      })}
      {cut ? <li class="small dim">{t("patchCut")}</li> : null}
    </ul>
  );
}

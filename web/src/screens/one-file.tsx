/** One file's changes: lines to comment on, the comments so far, and the one that is being written. */

import { commentOn, type LineComment } from "../parts/diff/comments";
import { DiffLines } from "../parts/diff/diff-lines";
import type { DiffLine, FileDiff } from "../parts/diff/parse";
import { isSamePosition, lineAt, type OpenComment, positionOf } from "../parts/diff/positions";
import { focused } from "../parts/focus";
import { Icon } from "../parts/icon";
import { Shown } from "../parts/visible";
import { useApp, useMayWrite } from "../state/context";
import { t } from "../texts";

interface OneFileProps {
  readonly file: FileDiff;
  /** It has no changes any more; what is shown is what it had. */
  readonly isGone: boolean;
  readonly comments: readonly LineComment[];
  readonly onComments: (comments: readonly LineComment[]) => void;
  readonly open: OpenComment | null;
  readonly onOpen: (open: OpenComment | null) => void;
}

export function OneFile({ file, isGone, comments, onComments, open, onOpen }: OneFileProps) {
  const { settings } = useApp();
  const mayWrite = useMayWrite();
  const lines = file.hunks.flatMap((hunk) => hunk.lines);
  const mine = open?.path === file.path ? open : null;
  const from = mine ? lineAt(lines, mine.from) : undefined;
  const to = mine ? lineAt(lines, mine.to) : undefined;
  const [first = -1, last = -1] = from && to ? [lines.indexOf(from), lines.indexOf(to)].sort((a, b) => a - b) : [];
  const places = new Map(lines.map((line, place) => [line, place]));
  const pick = (line: DiffLine) => {
    const position = positionOf(line);
    if (!mine || !from) onOpen({ path: file.path, from: position, to: position, text: "" });
    else if (line !== from) onOpen({ ...mine, from: positionOf(from), to: position });
    // A second tap on the same line closes what nobody has written anything into.
    else onOpen(mine.text.trim() === "" && isSamePosition(mine.from, mine.to) ? null : { ...mine, to: mine.from });
  };
  const add = () => {
    if (mine && from && to) onComments([...comments, commentOn(file.path, lines, from, to, mine.text)]);
    onOpen(null);
  };
  return (
    <div class="diff-body">
      {isGone ? <p class="diff-hint small dim">{t("fileUnchanged")}</p> : null}
      <DiffLines
        file={file}
        wrapped={settings.value.wrapDiff}
        onPick={mayWrite ? pick : undefined}
        isPicked={(line) => {
          const place = places.get(line) ?? -1;
          return first >= 0 && place >= first && place <= last;
        }}
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
            {mine && line === lines[last] ? (
              <Writing
                text={mine.text}
                onText={(text) => onOpen({ ...mine, text })}
                onCancel={() => onOpen(null)}
                onAdd={add}
              />
            ) : null}
          </>
        )}
      />
      {mayWrite ? <p class="diff-hint small dim">{t("tapALine")}</p> : null}
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

interface WritingProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onCancel: () => void;
  readonly onAdd: () => void;
}

function Writing({ text, onText, onCancel, onAdd }: WritingProps) {
  return (
    <div class="card comment">
      <textarea
        class="input"
        rows={2}
        ref={focused}
        value={text}
        aria-label={t("comment")}
        placeholder={t("comment")}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <div class="buttons">
        <button type="button" class="button" onClick={onCancel}>
          {t("cancel")}
        </button>
        <button type="button" class="button primary" disabled={text.trim() === ""} onClick={onAdd}>
          {t("addComment")}
        </button>
      </div>
    </div>
  );
}

/** One file's changes, line by line; where lines may be commented on, each is a button. */

import { type ComponentChildren, Fragment } from "preact";
import { t } from "../../texts";
import { Shown } from "../visible";
import { changedWords, type DiffLine, type FileDiff, type Hunk } from "./parse";

type DiffLinesProps = {
  file: FileDiff;
  wrapped: boolean;
  /** Every line, however many, and the file's name above them: for what is judged by these lines alone. */
  whole?: boolean;
  onPick?: ((line: DiffLine) => void) | undefined;
  isPicked?: ((line: DiffLine) => boolean) | undefined;
  below?: ((line: DiffLine) => ComponentChildren) | undefined;
};

const MOST_LINES = 4000;

export function DiffLines({ file, wrapped, whole = false, onPick, isPicked, below }: DiffLinesProps) {
  const most = whole ? Number.POSITIVE_INFINITY : MOST_LINES;
  const isCut = file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0) > most;
  let room = most;
  return (
    <section
      class={wrapped ? "diff wrapped" : "diff"}
      tabIndex={onPick ? undefined : 0}
      aria-label={file.path || t("diff")}
    >
      <div class="diff-lines">
        {whole ? (
          <div class="diff-note small">
            <Shown text={namesOf(file)} strict />
          </div>
        ) : null}
        {file.note ? (
          <div class="diff-note dim small">
            <Shown text={file.note} strict />
          </div>
        ) : null}
        {file.hunks.map((hunk) => {
          const lines = hunk.lines.slice(0, room);
          room -= lines.length;
          return <HunkView hunk={{ ...hunk, lines }} {...{ onPick, isPicked, below }} />;
        })}
        {isCut ? <div class="diff-note dim small">{t("diffCut", { lines: MOST_LINES })}</div> : null}
      </div>
    </section>
  );
}

function namesOf(file: FileDiff): string {
  return file.oldPath && file.oldPath !== file.path ? `${file.oldPath} → ${file.path}` : file.path;
}

type HunkProps = Pick<DiffLinesProps, "onPick" | "isPicked" | "below"> & { hunk: Hunk };

function HunkView({ hunk, onPick, isPicked, below }: HunkProps) {
  const pairs = pairUp(hunk.lines);
  return (
    <>
      <div class="diff-hunk">
        <Shown text={`@@ ${hunk.heading}`} strict />
      </div>
      {hunk.lines.map((line) => (
        <Fragment key={`${line.kind === "removed" ? "-" : "+"}${line.after ?? line.before}`}>
          <Line line={line} other={pairs.get(line)} onPick={onPick} picked={isPicked?.(line) ?? false} />
          {below?.(line)}
        </Fragment>
      ))}
    </>
  );
}

type LineProps = {
  line: DiffLine;
  other: DiffLine | undefined;
  onPick: ((line: DiffLine) => void) | undefined;
  picked: boolean;
};

function Line({ line, other, onPick, picked }: LineProps) {
  const number = line.after ?? line.before;
  const mark = line.kind === "added" ? "+" : line.kind === "removed" ? "−" : " ";
  const content = (
    <>
      <span class="diff-number">{number}</span>
      <span class="diff-mark">{mark}</span>
      <span class="diff-text">
        <Words line={line} other={other} />
      </span>
    </>
  );
  const kind = `diff-line ${line.kind}${picked ? " picked" : ""}`;
  if (!onPick) return <div class={kind}>{content}</div>;
  return (
    <button type="button" class={kind} aria-pressed={picked} onClick={() => onPick(line)}>
      {content}
    </button>
  );
}

function Words({ line, other }: { line: DiffLine; other: DiffLine | undefined }) {
  if (!other) return <Shown text={line.text} strict />;
  const { start, endOne } = changedWords(line.text, other.text);
  const common = (line.text.slice(0, start) + line.text.slice(endOne)).trim();
  if (common.length * 3 < line.text.trim().length) return <Shown text={line.text} strict />;
  return (
    <>
      <Shown text={line.text.slice(0, start)} strict />
      <mark>
        <Shown text={line.text.slice(start, endOne)} strict />
      </mark>
      <Shown text={line.text.slice(endOne)} strict />
    </>
  );
}

/** Lines that were changed: as many added as were removed before them. */
function pairUp(lines: DiffLine[]): Map<DiffLine, DiffLine> {
  const pairs = new Map<DiffLine, DiffLine>();
  let index = 0;
  while (index < lines.length) {
    const removed = run(lines, index, "removed");
    const added = run(lines, index + removed.length, "added");
    if (removed.length && removed.length === added.length) {
      removed.forEach((line, place) => {
        const other = added[place];
        if (other) pairs.set(line, other).set(other, line);
      });
    }
    index += Math.max(removed.length + added.length, 1);
  }
  return pairs;
}

function run(lines: DiffLine[], from: number, kind: DiffLine["kind"]): DiffLine[] {
  let end = from;
  while (lines[end]?.kind === kind) end += 1;
  return lines.slice(from, end);
}

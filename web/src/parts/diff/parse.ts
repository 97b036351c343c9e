/** Reads what `git diff` prints into files, hunks and numbered lines, by the lengths that the hunks tell. Pure. */

export type LineKind = "same" | "added" | "removed";
export type DiffLine = { kind: LineKind; text: string; before?: number; after?: number };
export type Hunk = { heading: string; lines: DiffLine[] };
export type FileDiff = { path: string; oldPath: string; note: string; added: number; removed: number; hunks: Hunk[] };

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(?: ?(.*))$/;
const NOTE = /^(new file|deleted file|rename|similarity|Binary|old mode|new mode)/;
// Lines that say nothing of what is changed.
const SILENT = /^(|index [0-9a-f]+\.\.[0-9a-f]+( \d+)?|=+)$/;
const NO_NEWLINE = "\\ No newline at end of file";

/** The files that a diff changes; nothing where it is no diff. Made for what git prints: other lines are passed over. */
export function parseDiff(text: string): FileDiff[] {
  return read(text).files;
}

/** The files that a diff changes, where all of the text is one: every line stands in a file that these have, and nothing
 * was passed over. Nothing for any other text, which is to be shown as it is: who wrote it may want a part unseen. */
export function wholeDiff(text: string): FileDiff[] {
  const { files, isWhole } = read(text);
  return isWhole ? files : [];
}

function read(text: string): { files: FileDiff[]; isWhole: boolean } {
  const reader = new DiffReader();
  for (const line of text.replace(/\n$/, "").split("\n")) reader.read(line);
  const files = reader.files.filter((file) => file.hunks.length || file.note);
  return { files, isWhole: reader.isWhole && files.length === reader.files.length };
}

class DiffReader {
  readonly files: FileDiff[] = [];
  private hunk: Hunk | undefined;
  private before = 0;
  private after = 0;
  private leftBefore = 0;
  private leftAfter = 0;
  private isNamed = false;
  private passedOver = false;

  /** Whether every line was taken in, and the last hunk has as many as it tells. */
  get isWhole(): boolean {
    return !this.passedOver && !this.isInHunk;
  }

  private get isInHunk(): boolean {
    return this.leftBefore > 0 || this.leftAfter > 0;
  }

  read(line: string): void {
    if (this.isInHunk && this.addLine(line)) return;
    if (this.isInHunk) this.endEarly();
    const found = HUNK.exec(line);
    if (line.startsWith("diff --git ")) this.beginByGit(line);
    else if (line.startsWith("Index: ")) this.begin({ oldPath: line.slice(7), path: line.slice(7) });
    else if (line.startsWith("--- ")) this.rename("oldPath", line.slice(4));
    else if (line.startsWith("+++ ")) this.rename("path", line.slice(4));
    else if (found) this.beginHunk(found);
    else if (line === NO_NEWLINE && this.hunk) return;
    else if (NOTE.test(line) && this.files.length && !this.hunk) this.addNote(line);
    else if (!SILENT.test(line)) this.passedOver = true;
  }

  private get file(): FileDiff {
    const last = this.files.at(-1);
    return last ?? this.begin({ oldPath: "", path: "" });
  }

  private begin(paths: { oldPath: string; path: string }): FileDiff {
    const file: FileDiff = { ...paths, note: "", added: 0, removed: 0, hunks: [] };
    this.files.push(file);
    this.hunk = undefined;
    this.isNamed = false;
    return file;
  }

  private beginByGit(line: string): void {
    const found = /^diff --git "?a\/(.+?)"? "?b\/(.+?)"?$/.exec(line);
    if (!found) this.passedOver = true;
    this.begin({ oldPath: found?.[1] ?? "", path: found?.[2] ?? "" });
  }

  /** A name of the file; one that another line gave it before must be the same. */
  private rename(side: "oldPath" | "path", name: string): void {
    const [told = "", ...rest] = name.split("\t");
    if (rest.join("").trim()) this.passedOver = true;
    if (this.hunk) this.begin({ oldPath: "", path: "" });
    if (side === "path") this.isNamed = true;
    const path = clean(told);
    const known = this.file[side];
    if (path === "/dev/null") {
      if (side === "path") this.file.path = this.file.oldPath;
      return;
    }
    if (known && known !== path) this.passedOver = true;
    this.file[side] = path;
  }

  private beginHunk(found: RegExpExecArray): void {
    const [, before = "0", lengthBefore = "1", after = "0", lengthAfter = "1", heading = ""] = found;
    // Lines of a file that nothing names.
    if (!this.isNamed) this.passedOver = true;
    this.before = Number(before);
    this.after = Number(after);
    this.leftBefore = Number(lengthBefore);
    this.leftAfter = Number(lengthAfter);
    this.hunk = { heading, lines: [] };
    this.file.hunks.push(this.hunk);
  }

  /** A line of the hunk; false where it cannot be one. */
  private addLine(line: string): boolean {
    const text = line.slice(1);
    const lines = this.hunk?.lines ?? [];
    if (line.startsWith("+") && this.leftAfter > 0) {
      lines.push({ kind: "added", text, after: this.after++ });
      this.leftAfter -= 1;
      this.file.added += 1;
    } else if (line.startsWith("-") && this.leftBefore > 0) {
      lines.push({ kind: "removed", text, before: this.before++ });
      this.leftBefore -= 1;
      this.file.removed += 1;
    } else if ((line === "" || line.startsWith(" ")) && this.leftBefore > 0 && this.leftAfter > 0) {
      lines.push({ kind: "same", text, before: this.before++, after: this.after++ });
      this.leftBefore -= 1;
      this.leftAfter -= 1;
    } else {
      return line === NO_NEWLINE;
    }
    return true;
  }

  private endEarly(): void {
    this.passedOver = true;
    this.leftBefore = 0;
    this.leftAfter = 0;
  }

  private addNote(line: string): void {
    this.file.note = this.file.note ? `${this.file.note} · ${line}` : line;
  }
}

function clean(name: string): string {
  const bare = name.replace(/^"|"$/g, "");
  return bare === "/dev/null" ? bare : bare.replace(/^[ab]\//, "");
}

/** Which parts of two lines differ: what they have in common at both ends, and what stands between. */
export function changedWords(one: string, other: string): { start: number; endOne: number; endOther: number } {
  const most = Math.min(one.length, other.length);
  let start = 0;
  while (start < most && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < most - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  return { start, endOne: one.length - end, endOther: other.length - end };
}

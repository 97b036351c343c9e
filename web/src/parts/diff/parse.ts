/** Reads what `git diff` prints, or a bare hunk, into files, hunks and numbered lines. Pure. */

export type LineKind = "same" | "added" | "removed";
export type DiffLine = { kind: LineKind; text: string; before?: number; after?: number };
export type Hunk = { heading: string; lines: DiffLine[] };
export type FileDiff = { path: string; oldPath: string; note: string; added: number; removed: number; hunks: Hunk[] };

const HUNK = /^@@+ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@+ ?(.*)$/;

/** The files that a diff changes; nothing where it is no diff. */
export function parseDiff(text: string): FileDiff[] {
  const reader = new DiffReader();
  for (const line of text.replace(/\n$/, "").split("\n")) reader.read(line);
  return reader.files.filter((file) => file.hunks.length || file.note);
}

class DiffReader {
  readonly files: FileDiff[] = [];
  private hunk: Hunk | undefined;
  private before = 0;
  private after = 0;

  read(line: string): void {
    if (line.startsWith("diff --git ")) this.begin(pathsOf(line));
    else if (!this.hunk && line.startsWith("--- ")) this.rename("oldPath", line.slice(4));
    else if (!this.hunk && line.startsWith("+++ ")) this.rename("path", line.slice(4));
    else if (HUNK.test(line)) this.beginHunk(line);
    else if (this.hunk) this.addLine(line);
    else this.addNote(line);
  }

  private get file(): FileDiff {
    const last = this.files.at(-1);
    return last ?? this.begin({ oldPath: "", path: "" });
  }

  private begin(paths: { oldPath: string; path: string }): FileDiff {
    const file: FileDiff = { ...paths, note: "", added: 0, removed: 0, hunks: [] };
    this.files.push(file);
    this.hunk = undefined;
    return file;
  }

  private rename(side: "oldPath" | "path", name: string): void {
    const path = clean(name);
    if (path !== "/dev/null") this.file[side] = path;
    if (side === "path" && path === "/dev/null") this.file.path = this.file.oldPath;
  }

  private beginHunk(line: string): void {
    const found = HUNK.exec(line);
    this.before = Number(found?.[1] ?? 0);
    this.after = Number(found?.[2] ?? 0);
    this.hunk = { heading: found?.[3] ?? "", lines: [] };
    this.file.hunks.push(this.hunk);
  }

  private addLine(line: string): void {
    const text = line.slice(1);
    const lines = this.hunk?.lines ?? [];
    if (line.startsWith("+")) {
      lines.push({ kind: "added", text, after: this.after++ });
      this.file.added += 1;
    } else if (line.startsWith("-")) {
      lines.push({ kind: "removed", text, before: this.before++ });
      this.file.removed += 1;
    } else if (!line.startsWith("\\")) {
      lines.push({ kind: "same", text, before: this.before++, after: this.after++ });
    }
  }

  private addNote(line: string): void {
    if (/^(new file|deleted file|rename|similarity|Binary|old mode|new mode)/.test(line) && this.files.length) {
      this.file.note = this.file.note ? `${this.file.note} · ${line}` : line;
    }
  }
}

function pathsOf(line: string): { oldPath: string; path: string } {
  const found = /^diff --git "?a\/(.+?)"? "?b\/(.+?)"?$/.exec(line);
  return { oldPath: found?.[1] ?? "", path: found?.[2] ?? "" };
}

function clean(name: string): string {
  const bare = name.split("\t", 1)[0]?.replace(/^"|"$/g, "") ?? "";
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

/** Folders as they fit on a small screen: their last parts say most. Pure. */

/** The folder, or its last two parts where it is longer than that. */
export function shortFolder(path: string, most = 18): string {
  const parts = path.split("/").filter(Boolean);
  if (path.length <= most || parts.length < 3) return path;
  return `…/${parts.slice(-2).join("/")}`;
}

/** A folder as what is above it, and its own name, which is the last thing to be cut off. */
export function inTwo(path: string): readonly [above: string, name: string] {
  const at = path.replace(/\/+$/, "").lastIndexOf("/") + 1;
  return [path.slice(0, at), path.slice(at)];
}

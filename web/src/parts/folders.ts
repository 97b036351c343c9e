/** Folders as they fit on a small screen: their last parts say most. Pure. */

/** The folder, or its last two parts where it is longer than that. */
export function shortFolder(path: string, most = 18): string {
  const parts = path.split("/").filter(Boolean);
  if (path.length <= most || parts.length < 3) return path;
  return `…/${parts.slice(-2).join("/")}`;
}

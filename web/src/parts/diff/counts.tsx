/** How many lines came and went; what is none is not told. */

interface CountsProps {
  readonly added: number;
  readonly removed: number;
  /** What stands before them, where there are any. */
  readonly before?: string;
}

export function Counts({ added, removed, before = "" }: CountsProps) {
  if (!added && !removed) return null;
  return (
    <>
      {before}
      {added ? <span class="ok">+{added}</span> : null}
      {added && removed ? " " : null}
      {removed ? <span class="bad">−{removed}</span> : null}
    </>
  );
}

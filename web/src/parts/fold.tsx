/** Something an agent did as one line with its result; a tap opens it. What is inside is made only then. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "./icon";

interface FoldProps {
  readonly line: ComponentChildren;
  readonly result?: ComponentChildren;
  readonly children: () => ComponentChildren;
  readonly open?: boolean;
}

export function Fold({ line, result, children, open = false }: FoldProps) {
  const [shown, setShown] = useState(open);
  return (
    <details class="fold" open={shown} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary>
        <span class="fold-sign">
          <Icon name="fold" size={12} />
        </span>
        <span class="grow one">{line}</span>
        {result}
      </summary>
      {shown ? <div class="fold-body">{children()}</div> : null}
    </details>
  );
}

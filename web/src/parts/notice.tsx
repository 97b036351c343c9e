/** What a screen says instead of its content: nothing to show, not here yet, or why something could not be done. */

import type { ComponentChildren } from "preact";
import { Icon } from "./icon";
import type { PixelName } from "./pixels";
import { Shown } from "./visible";

interface NoticeProps {
  readonly icon: PixelName;
  readonly text: string;
  readonly children?: ComponentChildren;
  readonly inline?: boolean;
}

export function Notice({ icon, text, children, inline = false }: NoticeProps) {
  return (
    <div class={inline ? "notice inline" : "notice"}>
      <Icon name={icon} size={inline ? 24 : 48} />
      <p>{text}</p>
      {children}
    </div>
  );
}

/** Why something could not be done, read aloud at once; nothing while there is nothing to tell. */
export function Problem({ text }: { text: string }) {
  return text ? (
    <p class="bad small" role="alert">
      <Shown text={text} />
    </p>
  ) : null;
}

/** Grey lines where something is about to stand. */
export function Loading({ text, rows = 4 }: { text: string; rows?: number }) {
  return (
    <div class="loading" role="status">
      <span class="unseen">{text}</span>
      {Array.from({ length: rows }, (_, index) => (
        <div class="loading-row" key={index} aria-hidden="true">
          <span class="skeleton square" />
          <span class="grow">
            <span class="skeleton" data-width={index % 3} />
            <span class="skeleton" data-width={(index + 1) % 3} />
          </span>
        </div>
      ))}
    </div>
  );
}

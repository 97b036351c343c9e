/** A sheet over the screen: from below on a phone, in the middle on a desk. The browser keeps the focus inside. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { useMayWrite } from "../state/context";
import { t } from "../texts";
import { Icon } from "./icon";
import { Problem } from "./notice";
import { closeSheet } from "./route";

interface SheetProps {
  readonly title: ComponentChildren;
  readonly children: ComponentChildren;
  /** What stays in reach of the thumb, however long the sheet is. */
  readonly foot?: ComponentChildren;
  readonly tint?: string;
  readonly onClose?: () => void;
}

export function Sheet({ title, children, foot, tint = "", onClose = closeSheet }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    if (shown && !shown.open) shown.showModal();
    return () => {
      // It has left the page by now, so that the browser would give the keys back to nobody.
      shown?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`sheet ${tint}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div class="sheet-box">
        <header class="sheet-top">
          {/* biome-ignore lint/a11y/noAutofocus: the browser would focus the close button, and a reader should hear the title */}
          <h2 id={heading} class="grow" tabIndex={-1} autoFocus>
            {title}
          </h2>
          <button type="button" class="icon-button" aria-label={t("close")} onClick={onClose}>
            <Icon name="cross" />
          </button>
        </header>
        <div class="sheet-body">{children}</div>
        {foot ? <footer class="sheet-foot">{foot}</footer> : null}
      </div>
    </dialog>
  );
}

interface SheetActionProps {
  readonly label: string;
  readonly onClick: () => void;
  readonly disabled: boolean;
  readonly problem: string;
}

/** The one thing that a sheet is there to do, and why it could not be done. */
export function SheetAction({ label, onClick, disabled, problem }: SheetActionProps) {
  if (!useMayWrite()) return <p class="small dim">{t("readOnlyDevice")}</p>;
  return (
    <>
      <Problem text={problem} />
      <div class="buttons">
        <button type="button" class="button primary" disabled={disabled} onClick={onClick}>
          {label}
        </button>
      </div>
    </>
  );
}

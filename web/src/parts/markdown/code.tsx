/** A block of code: its language, copy, wrap, and colours that come later, from a worker. */

import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { t } from "../../texts";
import { CopyButton } from "../copy-button";
import { DiffLines } from "../diff/diff-lines";
import { wholeDiff } from "../diff/parse";
import { Icon } from "../icon";
import { Shown } from "../visible";
import { type Coloured, coloursOf, mayBeColoured } from "./colours";

/** Whether code is wrapped before anybody says otherwise. */
export const WrapCode = createContext(false);

type CodeProps = { text: string; language: string; open?: boolean };

export function Code({ text, language, open = false }: CodeProps) {
  const wrap = useContext(WrapCode);
  const [wrapped, setWrapped] = useState(wrap);
  const name = language.trim().split(/[\s{,:]/, 1)[0] ?? "";
  const diff = !open && (name === "diff" || name === "patch") ? wholeDiff(text) : [];
  return (
    <figure class="code">
      <figcaption>
        <span class="grow one">
          <Shown text={name || t("code")} strict />
        </span>
        <button
          type="button"
          class="tool-button"
          aria-pressed={wrapped}
          aria-label={t("wrapLines")}
          title={t("wrapLines")}
          onClick={() => setWrapped(!wrapped)}
        >
          <Icon name="wrap" />
        </button>
        <CopyButton text={text} />
      </figcaption>
      {diff.length ? (
        diff.map((file) => <DiffLines file={file} wrapped={wrapped} />)
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <pre class={wrapped ? "wrapped" : ""} tabIndex={0}>
          <ColouredCode text={text} language={name} open={open} />
        </pre>
      )}
    </figure>
  );
}

function ColouredCode({ text, language, open }: Required<CodeProps>) {
  const [coloured, setColoured] = useState<{ text: string; parts: Coloured[] }>();
  useEffect(() => {
    if (open || !mayBeColoured(text, language)) return undefined;
    let wanted = true;
    void coloursOf(text, language).then((parts) => {
      if (wanted && parts) setColoured({ text, parts });
    });
    return () => {
      wanted = false;
    };
  }, [text, language, open]);
  if (coloured?.text !== text) return <Shown text={text} strict />;
  return <Parts parts={coloured.parts} />;
}

function Parts({ parts }: { parts: Coloured[] }) {
  return (
    <>
      {parts.map((part) =>
        typeof part === "string" ? (
          <Shown text={part} strict />
        ) : (
          <span class={`c-${part[0]}`}>
            <Parts parts={part[1]} />
          </span>
        ),
      )}
    </>
  );
}

/** A button that copies, and says so for a moment. */

import { useEffect, useState } from "preact/hooks";
import { t } from "../texts";
import { copyText } from "./clipboard";
import { Icon } from "./icon";

export function CopyButton({ text, label }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => void copyText(text).then(setCopied);
  const words = copied ? t("copied") : (label ?? t("copy"));
  return (
    <button type="button" class="tool-button" onClick={copy} aria-label={words} title={words}>
      <Icon name={copied ? "check" : "copy"} />
    </button>
  );
}

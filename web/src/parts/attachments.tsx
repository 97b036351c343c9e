/** Files and pictures in the conversation; a picture comes from the node, never from elsewhere. */

import { useState } from "preact/hooks";
import { useApp } from "../state/context";
import type { Attachment, Picture } from "../state/types";
import { t } from "../texts";
import { Icon } from "./icon";
import { Shown } from "./visible";

export function Attachments({ files, worker }: { files: readonly Attachment[]; worker: string }) {
  if (files.length === 0) return null;
  return (
    <ul class="attachments">
      {files.map((file) => (
        <li key={file.path} class={isPicture(file) ? "of-picture" : undefined}>
          <File file={file} worker={worker} />
        </li>
      ))}
    </ul>
  );
}

function isPicture(file: Attachment): boolean {
  return /^image\/(png|jpeg|gif|webp)$/.test(file.media_type ?? "");
}

function File({ file, worker }: { file: Attachment; worker: string }) {
  const app = useApp();
  const [broken, setBroken] = useState(false);
  const name = file.name || file.path.split("/").at(-1) || file.path;
  const url = app.fileUrl(worker, file);
  // The frame has its size before the picture is there, and keeps it: nothing moves when it comes, nor when it never does.
  if (isPicture(file) && url) {
    return (
      <figure class="picture">
        <div class="frame">
          {broken ? (
            <Named file={file} name={name} url={url} />
          ) : (
            <a href={url} target="_blank" rel="noopener noreferrer">
              <img src={url} alt={file.caption || name} loading="lazy" onError={() => setBroken(true)} />
            </a>
          )}
        </div>
        {file.caption ? (
          <figcaption class="small dim">
            <Shown text={file.caption} />
          </figcaption>
        ) : null}
      </figure>
    );
  }
  return <Named file={file} name={name} url={url} />;
}

/** A file by its name, to be kept where it can be had. */
function Named({ file, name, url }: { file: Attachment; name: string; url: string }) {
  const inside = (
    <>
      <Icon name={isPicture(file) ? "image" : "files"} />
      <span class="one grow">
        <Shown text={name} strict />
      </span>
    </>
  );
  if (!url) return <span class="file">{inside}</span>;
  return (
    <a class="file" href={url} download={name} aria-label={t("download", { name })}>
      {inside}
    </a>
  );
}

/** Pictures that are to go along with a message, or went. */
export function Pictures({ pictures, onRemove }: { pictures: readonly Picture[]; onRemove?: (id: string) => void }) {
  if (pictures.length === 0) return null;
  return (
    <ul class="pictures">
      {pictures.map((picture) => (
        <li key={picture.id} class="thumb">
          {picture.url ? <img src={picture.url} alt={picture.name} /> : <span class="small one">{picture.name}</span>}
          {picture.progress < 1 ? <progress max={1} value={picture.progress} aria-label={t("uploading")} /> : null}
          {onRemove ? (
            <button
              type="button"
              class="thumb-remove"
              aria-label={t("removePicture", { name: picture.name })}
              onClick={() => onRemove(picture.id)}
            >
              <Icon name="cross" size={12} />
            </button>
          ) : null}
        </li>
      ))}
    </ul>
  );
}

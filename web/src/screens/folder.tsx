/** The worker's folder: what is in it, and any file of it as text. */

import { useEffect, useState } from "preact/hooks";
import { Icon } from "../parts/icon";
import { Code } from "../parts/markdown/code";
import { Loading, Notice } from "../parts/notice";
import { bytes } from "../parts/times";
import { Shown } from "../parts/visible";
import { useApp } from "../state/context";
import type { FileText, FolderListing, Worker } from "../state/types";
import { t } from "../texts";

export function FolderView({ worker }: { worker: Worker }) {
  const [path, setPath] = useState("");
  const [file, setFile] = useState("");
  return (
    <div class="body">
      <Way path={path} file={file} onPath={setPath} onFile={setFile} />
      {file ? (
        <FileView key={file} worker={worker} path={file} />
      ) : (
        <Listing key={path} worker={worker} path={path} onPath={setPath} onFile={setFile} />
      )}
    </div>
  );
}

interface WayProps {
  readonly path: string;
  readonly file: string;
  readonly onPath: (path: string) => void;
  readonly onFile: (path: string) => void;
}

/** The way to what is shown, each part of it a step back. */
function Way({ path, file, onPath, onFile }: WayProps) {
  const parts = path.split("/").filter(Boolean);
  const to = (place: number) => {
    onFile("");
    onPath(parts.slice(0, place).join("/"));
  };
  // In the worker's own folder there is no step back.
  if (parts.length === 0 && file === "") return null;
  return (
    <nav class="way small" aria-label={t("folder")}>
      <button type="button" class="text-button" onClick={() => to(0)}>
        <Icon name="folder" label={t("folder")} />
      </button>
      {parts.map((part, place) => (
        <button type="button" class="text-button" key={part + String(place)} onClick={() => to(place + 1)}>
          / <Shown text={part} strict />
        </button>
      ))}
      {file ? (
        <span class="one">
          / <Shown text={file.split("/").at(-1) ?? ""} strict />
        </span>
      ) : null}
    </nav>
  );
}

/** What a promise brought, or the sentence with which it failed. */
function useAnswer<T>(ask: () => Promise<T>): { value: T | undefined; problem: string } {
  const [value, setValue] = useState<T>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let wanted = true;
    ask().then(
      (found) => wanted && setValue(found),
      (error: unknown) => wanted && setProblem(error instanceof Error ? error.message : t("couldNotLoad")),
    );
    return () => {
      wanted = false;
    };
  }, []);
  return { value, problem };
}

type ListingProps = Omit<WayProps, "file"> & { readonly worker: Worker };

function Listing({ worker, path, onPath, onFile }: ListingProps) {
  const { actions } = useApp();
  const { value, problem } = useAnswer<FolderListing>(() => actions.folder(worker.name, path));
  if (problem) return <Notice icon="warn" text={problem} />;
  if (!value) return <Loading text={t("loading")} rows={4} />;
  if (value.entries.length === 0) return <Notice icon="folder" text={t("emptyFolder")} />;
  const inside = (name: string) => (path ? `${path}/${name}` : name);
  return (
    <>
      <ul class="links">
        {value.entries.map((entry) => (
          <li key={entry.name}>
            <button
              type="button"
              class="link-row"
              disabled={entry.kind === "link" || entry.kind === "other"}
              onClick={() => (entry.kind === "folder" ? onPath(inside(entry.name)) : onFile(inside(entry.name)))}
            >
              <span class={entry.kind === "folder" ? "accent" : "dim"}>
                <Icon name={entry.kind === "folder" ? "folder" : "page"} />
              </span>
              <span class="grow one">
                <Shown text={entry.name} strict />
              </span>
              <span class="small faint">{entry.kind === "file" ? bytes(entry.size) : ""}</span>
            </button>
          </li>
        ))}
      </ul>
      {value.more ? <p class="small dim">{t("listCut")}</p> : null}
    </>
  );
}

function FileView({ worker, path }: { worker: Worker; path: string }) {
  const { actions } = useApp();
  const { value, problem } = useAnswer<FileText>(() => actions.fileText(worker.name, path));
  if (problem) return <Notice icon="warn" text={problem} />;
  if (!value) return <Loading text={t("loading")} rows={6} />;
  if (value.text === null) return <Notice icon="files" text={t("noText", { size: bytes(value.size) })} />;
  return (
    <>
      <Code text={value.text} language={path.split(".").at(-1) ?? ""} />
      {value.cut ? <p class="small dim">{t("fileCut")}</p> : null}
    </>
  );
}

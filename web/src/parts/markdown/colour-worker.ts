/** Runs in a worker: finds the words of code that have a colour, by highlight.js, as a tree without HTML. */

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { Coloured, ColourReply, ColourRequest } from "./colours";

const LANGUAGES = {
  bash,
  c,
  cpp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  makefile,
  markdown,
  php,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);
hljs.registerAliases(["console", "zsh", "shell"], { languageName: "bash" });

type Node = string | { scope?: string; children: Node[] };

addEventListener("message", (event: MessageEvent<ColourRequest>) => {
  const { id, text, language } = event.data;
  postMessage({ id, parts: colour(text, language) } satisfies ColourReply);
});

function colour(text: string, language: string): Coloured[] | null {
  if (!hljs.getLanguage(language)) return null;
  const result = hljs.highlight(text, { language, ignoreIllegals: true });
  const root = (result._emitter as unknown as { rootNode: Node }).rootNode;
  return typeof root === "string" ? [root] : root.children.map(coloured);
}

function coloured(node: Node): Coloured {
  if (typeof node === "string") return node;
  const kind = (node.scope ?? "").split(/[.: ]/, 1)[0]?.replace(/[^a-z_-]/g, "") ?? "";
  return [kind, node.children.map(coloured)];
}

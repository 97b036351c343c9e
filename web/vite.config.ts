/** Builds the app into the Python package: hashed names, compressed once, and a service worker that knows every file. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const OUT = "../src/farhand/server/app_files";
const COMPRESSED = /\.(html|js|css|svg|webmanifest|json|txt)$/;
// What the app needs to open without a network; the rest is fetched when it is first wanted, and kept then.
const SHELL = /\.(html|css|js|svg|webmanifest|woff2)$/;
const LAZY = /(xterm|highlight|terminal)/i;

function files(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}

/** The text with a string literal in place of the one that holds the name; the minifier chose its quotes. */
function fill(text: string, name: string, value: string): string {
  const literal = new RegExp(`["'\`]${name}["'\`]`);
  if (!literal.test(text)) {
    throw new Error(`The service worker has no ${name}.`);
  }
  return text.replace(literal, () => JSON.stringify(value));
}

/** Writes the list of files and their digest into the service worker: another build is another worker. */
function shellList(folder: string): void {
  const names = files(folder)
    .filter((path) => SHELL.test(path) && !LAZY.test(path) && !path.endsWith("sw.js"))
    .sort();
  const digest = createHash("sha256");
  for (const name of names) {
    digest.update(name).update(readFileSync(name));
  }
  const list = names.map(
    (path) =>
      `/app/${relative(folder, path)
        .replaceAll("\\", "/")
        .replace(/^index\.html$/, "")}`,
  );
  const worker = join(folder, "sw.js");
  const text = readFileSync(worker, "utf-8");
  if (/^\s*import\b/.test(text)) {
    throw new Error("The service worker imports a file: what a window uses, too, must be written there again.");
  }
  const filled = fill(fill(text, "__VERSION__", digest.digest("hex").slice(0, 16)), "__SHELL__", JSON.stringify(list));
  writeFileSync(worker, filled);
}

function compress(folder: string): void {
  for (const path of files(folder).filter((name) => COMPRESSED.test(name))) {
    const data = readFileSync(path);
    writeFileSync(`${path}.gz`, gzipSync(data, { level: 9 }));
    writeFileSync(
      `${path}.br`,
      brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }),
    );
  }
}

function finished(): Plugin {
  let folder = "";
  return {
    name: "farhand-finished",
    apply: "build",
    configResolved(config) {
      folder = resolve(config.root, config.build.outDir);
    },
    closeBundle() {
      shellList(folder);
      compress(folder);
    },
  };
}

export default defineConfig({
  base: "/app/",
  plugins: [finished()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: ["es2022", "safari16.4", "chrome111", "firefox114"],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      // On a slow machine that is no news to whoever waits for it.
      checks: { pluginTimings: false },
      input: { index: "index.html", sw: "src/worker/service-worker.ts" },
      output: {
        entryFileNames: (chunk) => (chunk.name === "sw" ? "sw.js" : "assets/[name]-[hash].js"),
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
  server: { proxy: { "/api": "http://127.0.0.1:8080" } },
  // No test is timed: the limit only ends one that hangs.
  test: { include: ["tests/**/*.test.ts"], environment: "node", testTimeout: 120_000, hookTimeout: 120_000 },
});

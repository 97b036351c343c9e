/** Fails when what a first visit loads (the page, its scripts and its styles, compressed) is more than the limit. */

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LIMIT_BYTES = 150_000;
const BUILT = new URL("../../src/farhand/server/app_files/", import.meta.url);

const page = readFileSync(new URL("index.html", BUILT), "utf-8");
const loaded = [...page.matchAll(/(?:src|href)="\/app\/([^"]+\.(?:js|css))"/g)].map((found) => found[1] ?? "");
const sizes = loaded.map((name) => gzipSync(readFileSync(new URL(name, BUILT)), { level: 9 }).length);
const total = sizes.reduce((sum, size) => sum + size, 0);
process.stdout.write(
  `phone app: ${total.toLocaleString("en")} bytes compressed on a first load, ${LIMIT_BYTES.toLocaleString("en")} is the limit\n`,
);
if (loaded.length === 0 || total > LIMIT_BYTES) {
  process.exit(1);
}

/** Pixel art, twelve by twelve: every icon and sign of the app, drawn in letters. */

const ART = {
  hand: "............ ....xx...... ....xx.xx... ....xx.xx.x. ....xx.xx.xx .xx.xx.xx.xx .xx.xxxxxxxx .xxxxxxxxxxx ..xxxxxxxxxx ...xxxxxxxx. ....xxxxxx.. ....xxxxxx..",
  team: "............ .xx..xxxxxx. .xx..xxxxxx. ............ ............ .xx..xxxxxx. .xx..xxxxxx. ............ ............ .xx..xxxxxx. .xx..xxxxxx. ............",
  inbox:
    "............ ..xxxxxxxx.. ..x......x.. .x........x. .x........x. .xxx....xxx. .x.x....x.x. .x..xxxx..x. .x........x. .x........x. .xxxxxxxxxx. ............",
  clock:
    "............ ...xxxxxx... ..x......x.. .x...x....x. .x...x....x. .x...x....x. .x...xxx..x. .x........x. .x........x. ..x......x.. ...xxxxxx... ............",
  sliders:
    "............ .....xx..... .xxxxxxxxxx. .....xx..... ............ .......xx... .xxxxxxxxxx. .......xx... ............ ...xx....... .xxxxxxxxxx. ...xx.......",
  back: "............ .......xx... ......xx.... .....xx..... ....xx...... ...xx....... ...xx....... ....xx...... .....xx..... ......xx.... .......xx... ............",
  next: "............ ...xx....... ....xx...... .....xx..... ......xx.... .......xx... .......xx... ......xx.... .....xx..... ....xx...... ...xx....... ............",
  paste:
    "....xxxx.... .xxxx..xxxx. .x..xxxx..x. .x........x. .x........x. .x.xxxxxx.x. .x........x. .x.xxxxxx.x. .x........x. .x.xxxx...x. .xxxxxxxxxx. ............",
  files:
    "............ ..xxxxxx.... ..x....xx... ..x....xxx.. ..x......x.. ..x..x...x.. ..x.xxx..x.. ..x..x...x.. ..x......x.. ..x.xxxx.x.. ..xxxxxxxx.. ............",
  page: "............ ..xxxxxx.... ..x....xx... ..x....xxx.. ..x......x.. ..x......x.. ..x......x.. ..x......x.. ..x......x.. ..x......x.. ..xxxxxxxx.. ............",
  terminal:
    "............ .xxxxxxxxxx. .x........x. .x.x......x. .x..x.....x. .x...x....x. .x..x.....x. .x.x..xxx.x. .x........x. .xxxxxxxxxx. ............ ............",
  plus: "............ ............ .....xx..... .....xx..... .....xx..... ..xxxxxxxx.. ..xxxxxxxx.. .....xx..... .....xx..... .....xx..... ............ ............",
  send: "............ .....xx..... ....xxxx.... ...xxxxxx... ..xx.xx.xx.. .xx..xx..xx. .....xx..... .....xx..... .....xx..... .....xx..... .....xx..... ............",
  stop: "............ ............ ..xxxxxxxx.. ..xxxxxxxx.. ..xxxxxxxx.. ..xxxxxxxx.. ..xxxxxxxx.. ..xxxxxxxx.. ..xxxxxxxx.. ..xxxxxxxx.. ............ ............",
  microphone:
    ".....xx..... ....xxxx.... ....xxxx.... ....xxxx.... ....xxxx.... ..x.xxxx.x.. ..x.xxxx.x.. ..x..xx..x.. ...x....x... ....xxxx.... .....xx..... ...xxxxxx...",
  image:
    "............ .xxxxxxxxxx. .x........x. .x.xx.....x. .x.xx.....x. .x.....x..x. .x....xxx.x. .x.x.xxxxxx. .xxxxxxxxxx. .xxxxxxxxxx. ............ ............",
  copy: "............ .xxxxxxx.... .x.....x.... .x.....x.... .x..xxxxxxx. .x..x.....x. .x..x.....x. .xxxx.....x. ....x.....x. ....x.....x. ....xxxxxxx. ............",
  wrap: "............ .xxxxxxxxxx. ............ ............ .xxxxxxxxx.. ..........x. ..........x. .xxx..x..x.. .....xxxxx.. ......x..... .......x.... ............",
  check:
    "............ ............ ..........x. .........xx. ........xx.. .x.....xx... .xx...xx.... ..xx.xx..... ...xxx...... ....x....... ............ ............",
  cross:
    "............ ............ ..xx....xx.. ..xxx..xxx.. ...xxxxxx... ....xxxx.... ....xxxx.... ...xxxxxx... ..xxx..xxx.. ..xx....xx.. ............ ............",
  fold: "............ ....x....... ....xx...... ....xxx..... ....xxxx.... ....xxxxx... ....xxxxx... ....xxxx.... ....xxx..... ....xx...... ....x....... ............",
  jump: "............ .....xx..... .....xx..... .....xx..... .....xx..... .xx..xx..xx. ..xx.xx.xx.. ...xxxxxx... ....xxxx.... .....xx..... .xxxxxxxxxx. ............",
  up: "............ ............ .....xx..... ....xxxx.... ...xx..xx... ..xx....xx.. .xx......xx. ............ ............ ............ ............ ............",
  down: "............ ............ ............ ............ .xx......xx. ..xx....xx.. ...xx..xx... ....xxxx.... .....xx..... ............ ............ ............",
  search:
    "............ ...xxxx..... ..x....x.... .x......x... .x......x... .x......x... .x......x... ..x....x.... ...xxxxxx... .......xxx.. ........xxx. .........xx.",
  warn: "............ .....xx..... .....xx..... ....xxxx.... ....x..x.... ...xx..xx... ...xx..xx... ..xxx..xxx.. ..xxxxxxxx.. .xxxx..xxxx. .xxxxxxxxxx. ............",
  phone:
    "...xxxxxx... ...x....x... ...x....x... ...x....x... ...x....x... ...x....x... ...x....x... ...x....x... ...xxxxxx... ...x.xx.x... ...xxxxxx... ............",
  pencil:
    "............ .........xx. ........xxxx .......xx.xx ......xx.xx. .....xx.xx.. ....xx.xx... ...xx.xx.... ..xx.xx..... ..x.xx...... ..xxx....... ............",
  bolt: "......xx.... .....xx..... ....xx...... ...xx....... ..xxxxxxx... ......xx.... .....xx..... ....xx...... ...xx....... ..xx........ ............ ............",
  trash:
    "....xxxx.... .xxxxxxxxxx. ............ ..xxxxxxxx.. ..x.x..x.x.. ..x.x..x.x.. ..x.x..x.x.. ..x.x..x.x.. ..x.x..x.x.. ..x......x.. ..xxxxxxxx.. ............",
  dots: "............ ............ ............ ............ ............ .xx..xx..xx. .xx..xx..xx. ............ ............ ............ ............ ............",
  offline:
    "............ x.x......xx. .x.......xx. x.x......xx. ......xx.xx. ......xx.xx. ......xx.xx. ...xx.xx.xx. ...xx.xx.xx. xx.xx.xx.xx. xx.xx.xx.xx. ............",
  bell: "............ .....xx..... ....xxxx.... ...x....x... ...x....x... ...x....x... ...x....x... ..x......x.. .x........x. .xxxxxxxxxx. .....xx..... ............",
  folder:
    "............ .xxxx....... .x..xx...... .x...xxxxxx. .x........x. .x........x. .x........x. .x........x. .x........x. .xxxxxxxxxx. ............ ............",
  claude:
    "............ .....xx..... ..x..xx..x.. ...x.xx.x... ....xxxx.... .xxxxxxxxxx. .xxxxxxxxxx. ....xxxx.... ...x.xx.x... ..x..xx..x.. .....xx..... ............",
  codex:
    "............ ....xxxx.... ....x..x.... ....x..x.... .xxxx..xxxx. .x........x. .x........x. .xxxx..xxxx. ....x..x.... ....x..x.... ....xxxx.... ............",
  gemini:
    ".....xx..... .....xx..... ....xxxx.... ....xxxx.... ..xxxxxxxx.. xxxxxxxxxxxx xxxxxxxxxxxx ..xxxxxxxx.. ....xxxx.... ....xxxx.... .....xx..... .....xx.....",
  opencode:
    "............ .xxxxxxxxxx. .x........x. .x........x. .x..xxxx..x. .x..xxxx..x. .x..xxxx..x. .x..xxxx..x. .x........x. .x........x. .xxxxxxxxxx. ............",
  demo: "............ ...xxxxxx... ..x......x.. .x........x. .x.xx..xx.x. .x.xx..xx.x. .x........x. .x.x....x.x. .x..xxxx..x. ..x......x.. ...xxxxxx... ............",
  agent:
    "............ ............ .xx......... ..xx........ ...xx....... ....xx...... ...xx....... ..xx........ .xx..xxxxxx. .....xxxxxx. ............ ............",
} as const;

export type PixelName = keyof typeof ART;
export const SIZE = 12;

/** The rows of a drawing. */
export function rows(name: PixelName): string[] {
  return ART[name].split(" ");
}

/** The drawing as the path of an SVG: one rectangle for each run of pixels in a row. */
export function path(name: PixelName): string {
  const found = paths.get(name) ?? draw(rows(name));
  paths.set(name, found);
  return found;
}

/** The names of all drawings. */
export const PIXEL_NAMES = Object.keys(ART) as PixelName[];

const paths = new Map<PixelName, string>();

function draw(art: string[]): string {
  return art
    .flatMap((row, y) =>
      [...row.matchAll(/x+/g)].map((run) => `M${run.index} ${y}h${run[0].length}v1h-${run[0].length}z`),
    )
    .join("");
}

/** What a browser calls itself when it is paired: "Chrome on Android". Pure. */

const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\//, "Edge"],
  [/\b(?:OPR|Opera)\//, "Opera"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/(?:Chrome|CriOS|Chromium)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bMac OS X\b/, "Mac"],
  [/\bLinux\b/, "Linux"],
];

export function deviceName(agent: string): string {
  const found = (names: readonly (readonly [RegExp, string])[]) => names.find(([known]) => known.test(agent))?.[1];
  const [browser, system] = [found(BROWSERS), found(SYSTEMS)];
  return system ? `${browser ?? "A browser"} on ${system}` : (browser ?? "A browser");
}

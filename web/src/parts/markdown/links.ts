/** Which addresses of an agent's answer may become links, and what is told about where they lead. Pure. */

const ALLOWED = new Set(["http:", "https:", "mailto:"]);

export type SafeLink = { href: string; host: string };

/** The link, or nothing for an address that is not a whole one of the web or of mail. */
export function safeLink(address: string): SafeLink | undefined {
  // What a browser would strip before it reads the scheme is no part of an address.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u0020\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/.test(address)) return undefined;
  let parsed: URL;
  try {
    parsed = new URL(address);
  } catch {
    return undefined;
  }
  if (!ALLOWED.has(parsed.protocol)) return undefined;
  if (parsed.protocol === "mailto:") return { href: parsed.href, host: parsed.pathname };
  if (!parsed.hostname || parsed.username || parsed.password) return undefined;
  return { href: parsed.href, host: parsed.host };
}

/** Whether the words of a link already say where it leads, so that it need not be added. */
export function saysWhere(words: string, link: SafeLink): boolean {
  return words.includes(link.host);
}

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

/** Whether the words of a link are its very address, so that where it leads need not be added: words that only hold
 * the name may say something else ("https://bank.example" leads to "example"). */
export function saysWhere(words: string, link: SafeLink): boolean {
  const address = words.trim().replace(/^(https?:\/\/|mailto:)/i, "");
  return address.split(/[/?#]/)[0]?.toLowerCase() === link.host.toLowerCase();
}

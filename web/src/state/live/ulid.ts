/** Ids that a phone gives: sortable by time, and chosen by nobody else. */

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A ULID: 48 bits of time, 80 bits of chance. */
export function ulid(now: number = Date.now()): string {
  const chance = crypto.getRandomValues(new Uint8Array(16));
  return `${time(now)}${Array.from(chance, (byte) => ALPHABET[byte % 32]).join("")}`;
}

function time(milliseconds: number): string {
  let [text, left] = ["", Math.floor(milliseconds)];
  for (let place = 0; place < 10; place += 1) {
    text = `${ALPHABET[left % 32]}${text}`;
    left = Math.floor(left / 32);
  }
  return text;
}

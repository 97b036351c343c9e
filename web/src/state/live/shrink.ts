/** Makes a photograph as small as an agent needs it, on the phone; what is no photograph stays as it is. */

const LONGEST_SIDE = 2000;
const QUALITY = 0.85;
const SMALL_BYTES = 400_000;
/** What every agent reads; a phone may have others. */
const PLAIN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export async function shrunk(file: File): Promise<File> {
  const isPicture = file.type.startsWith("image/");
  if (!isPicture || (PLAIN.has(file.type) && file.size <= SMALL_BYTES) || file.type === "image/gif") {
    return file;
  }
  try {
    return await drawn(file);
  } catch {
    // A picture that this browser cannot read may be one that the agent can.
    return file;
  }
}

async function drawn(file: File): Promise<File> {
  const picture = await createImageBitmap(file);
  const scale = Math.min(1, LONGEST_SIDE / Math.max(picture.width, picture.height));
  const canvas = new OffscreenCanvas(Math.round(picture.width * scale), Math.round(picture.height * scale));
  canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  // A screenshot stays sharp.
  const type = file.type === "image/png" && scale === 1 ? "image/png" : "image/jpeg";
  const blob = await canvas.convertToBlob({ type, quality: QUALITY });
  const name = type === file.type ? file.name : `${file.name.replace(/\.\w+$/, "")}.jpg`;
  return blob.size < file.size || !PLAIN.has(file.type) ? new File([blob], name, { type }) : file;
}

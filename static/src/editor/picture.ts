/** A picture from a file, a paste or a drop, as an image block holds it. */

export const MIME_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

/** Bytes; what the providers take in one picture. */
export const LARGEST_PICTURE = 5 * 2 ** 20;

export interface Picture {
  readonly data: string;
  readonly mimeType: string;
}

/** Read a picture; an `Error` with a sentence for a person if it cannot be one. */
export async function readPicture(file: Blob): Promise<Picture> {
  if (file.size > LARGEST_PICTURE) {
    const size = (file.size / 2 ** 20).toFixed(1);
    throw new Error(`This picture has ${size} MB; ${LARGEST_PICTURE / 2 ** 20} MB is the most.`);
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  const mimeType = kindOf(bytes);
  if (!mimeType) throw new Error("This is not a PNG, JPEG, GIF or WebP picture.");
  return { data: base64(bytes), mimeType };
}

/** The first picture among files that were pasted or dropped. */
export function pictureIn(transfer: DataTransfer | null): File | null {
  return [...(transfer?.files ?? [])].find((file) => file.type.startsWith("image/")) ?? null;
}

/** Bytes of a picture given as base64. */
export function sizeOf(data: string): number {
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((data.length * 3) / 4) - padding);
}

/** By its first bytes: names of files and what a browser says of them may be wrong. */
function kindOf(bytes: Uint8Array): string | null {
  const starts = (at: number, ...expected: number[]): boolean =>
    expected.every((byte, index) => bytes[at + index] === byte);
  if (starts(0, 0x89, 0x50, 0x4e, 0x47)) return "image/png";
  if (starts(0, 0xff, 0xd8, 0xff)) return "image/jpeg";
  if (starts(0, 0x47, 0x49, 0x46, 0x38)) return "image/gif";
  if (starts(0, 0x52, 0x49, 0x46, 0x46) && starts(8, 0x57, 0x45, 0x42, 0x50)) return "image/webp";
  return null;
}

const PIECE = 0x8000;

function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += PIECE) {
    binary += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  }
  return btoa(binary);
}

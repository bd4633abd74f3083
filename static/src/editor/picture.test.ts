import { expect, it } from "vitest";
import { LARGEST_PICTURE, readPicture, sizeOf } from "./picture.ts";

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

it("is known by its bytes, not by what it is called", async () => {
  const picture = await readPicture(
    new File([new Uint8Array(PNG)], "x.gif", { type: "image/gif" }),
  );
  expect(picture).toEqual({ mimeType: "image/png", data: "iVBORw0KGgo=" });
  expect(sizeOf(picture.data)).toBe(PNG.length);
});

it("is refused when it is something else", async () => {
  await expect(readPicture(new Blob(["<svg/>"], { type: "image/png" }))).rejects.toThrow(
    "This is not a PNG, JPEG, GIF or WebP picture.",
  );
});

it("is refused when it is too large", async () => {
  const large = new Blob([new Uint8Array(LARGEST_PICTURE + 1)]);
  await expect(readPicture(large)).rejects.toThrow("5 MB is the most");
});

it("may be large and keeps every byte", async () => {
  const bytes = new Uint8Array(200_001).map((_, index) => index % 251);
  bytes.set(PNG);
  const { data } = await readPicture(new Blob([bytes]));
  expect(Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0))).toEqual(bytes);
  expect(sizeOf(data)).toBe(bytes.length);
});

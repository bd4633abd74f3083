import { expect, it } from "vitest";
import { shownInArea, withTyped } from "./typing.ts";

it("keeps the line breaks that a text area cannot show", () => {
  const text = "one\r\ntwo\rthree\nfour";
  expect(shownInArea(text)).toBe("one\ntwo\nthree\nfour");
  expect(withTyped(text, "one\ntwo\nthree!\nfour")).toBe("one\r\ntwo\rthree!\nfour");
});

it("takes a text without them as it is typed", () => {
  expect(withTyped("one\ntwo", "new")).toBe("new");
});

it.each([
  ["a\r\n\r\nb", "a\n\nb", "a\r\n\r\nb"],
  ["a\r\nb", "a\nxb", "a\r\nxb"],
  ["a\r\nb", "ab", "ab"],
  ["a\r\nb", "", ""],
  ["\r\n", "\n\n", "\r\n\n"],
  ["a\r\nb\r\n", "a\nb\nc", "a\r\nb\r\nc"],
  ["aa\r\n", "aaa\n", "aaa\r\n"],
])("%j shown as %j becomes %j", (text, shown, expected) => {
  expect(withTyped(text, shown)).toBe(expected);
});

it("changes nothing when nothing was typed, and shows what was typed otherwise", () => {
  const pieces = ["a", "\r", "\n", "b"];
  const two = pieces.flatMap((one) => pieces.map((other) => one + other));
  const words = [
    "",
    ...pieces,
    ...two,
    ...two.flatMap((one) => pieces.map((other) => one + other)),
  ];
  for (const text of words) {
    expect(withTyped(text, shownInArea(text))).toBe(text);
    for (const typed of words) {
      const shown = shownInArea(typed);
      expect(shownInArea(withTyped(text, shown))).toBe(shown);
    }
  }
});

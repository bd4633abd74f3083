import { expect, it } from "vitest";
import { ago, moment } from "./words.ts";

const NOW = Date.UTC(2026, 10, 30, 21, 27);

it.each([
  [5_000, "just now"],
  [5 * 60_000, "5 min ago"],
  [3 * 3_600_000, "3 h ago"],
  [2 * 86_400_000, "2 d ago"],
  [9 * 86_400_000, "21 Nov"],
  [400 * 86_400_000, "26 Oct 2025"],
])("says a moment %i ms past as the pages do", (passed, words) => {
  expect(ago(NOW - passed, NOW)).toBe(words);
});

it("says a whole moment for a title", () => {
  expect(moment(NOW)).toBe("30 Nov 2026 21:27 UTC");
});

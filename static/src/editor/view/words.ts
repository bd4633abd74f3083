/** What things are called on the screen. */

import type { Block, BlockType, Role, Turn } from "../model.ts";

export const ROLE_NAMES: Readonly<Record<Role, string>> = {
  system: "System",
  user: "User",
  assistant: "Assistant",
};

export const BLOCK_NAMES: Readonly<Record<BlockType, string>> = {
  text: "Text",
  image: "Image",
  reasoning: "Reasoning",
  tool_call: "Tool call",
  tool_result: "Tool result",
};

const LONGEST = 90;

/** The first words of a turn, for the outline. */
export function firstWords(turn: Turn): string {
  for (const block of turn.blocks) {
    const words = wordsOf(block);
    if (words) return words;
  }
  return "";
}

function wordsOf(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text
        .slice(0, LONGEST * 2)
        .replace(/\s+/g, " ")
        .trim()
        .slice(0, LONGEST);
    case "image":
      return "Image";
    case "reasoning":
      return "";
    case "tool_call":
      return `${block.name || "call"}(…)`;
    case "tool_result":
      return `${block.is_error ? "Error" : "Result"} of ${block.tool_call_id || "…"}`;
  }
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** As the studio's pages say it: `just now`, `5 min ago`, `3 h ago`, `2 d ago`, then the date (UTC). */
export function ago(moment: number, now: number): string {
  const passed = now - moment;
  if (passed < MINUTE) return "just now";
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min ago`;
  if (passed < DAY) return `${Math.floor(passed / HOUR)} h ago`;
  if (passed < 7 * DAY) return `${Math.floor(passed / DAY)} d ago`;
  const date = new Date(moment);
  const day = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
  const year = date.getUTCFullYear();
  return year === new Date(now).getUTCFullYear() ? day : `${day} ${year}`;
}

/** The whole moment, for a title: `30 Nov 2026 21:27 UTC`. */
export function moment(milliseconds: number): string {
  const date = new Date(milliseconds);
  const clock = date.toISOString().slice(11, 16);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()} ${clock} UTC`;
}

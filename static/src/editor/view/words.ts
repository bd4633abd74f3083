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

export function clock(milliseconds: number): string {
  return new Date(milliseconds).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

/** Turning a block into another type. */

import { openCallBefore } from "./calls.ts";
import { jsonFault, prettyIfJson } from "./json.ts";
import {
  type Block,
  type BlockType,
  type Conversation,
  findBlock,
  freshCallId,
  newBlock,
  replaceBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  type Uid,
} from "./model.ts";

/** The types a block can become without losing what it says. */
export function retypesOf(block: Block): readonly BlockType[] {
  switch (block.type) {
    case "text":
      return ["reasoning", "tool_call", "tool_result"];
    case "reasoning":
      return ["text"];
    case "image":
      return ["tool_result"];
    case "tool_call":
      return ["text"];
    case "tool_result":
      return ["text"];
  }
}

/**
 * Turn a block into another type, keeping what it says: a text that is a JSON object becomes a
 * call's input, a result taken apart leaves what it holds.
 */
export function retypeBlock(turns: Conversation, uid: Uid, type: BlockType): Conversation {
  const found = findBlock(turns, uid);
  if (!found || !retypesOf(found.block).includes(type)) return turns;
  return replaceBlock(turns, uid, (block) => retyped(turns, block, type));
}

function retyped(turns: Conversation, block: Block, type: BlockType): readonly Block[] {
  const { uid, detail } = block;
  if (type === "tool_result") {
    const id = openCallBefore(turns, findBlock(turns, uid)?.turnIndex ?? turns.length);
    const result = newBlock("tool_result", id) as ToolResultBlock;
    return [{ ...result, blocks: [block] }];
  }
  switch (block.type) {
    case "text":
      if (type === "reasoning") return [{ uid, type, text: block.text, signature: null, detail }];
      return [{ ...callOfText(block.text, freshCallId(turns)), uid, detail }];
    case "tool_result":
      return block.blocks;
    case "tool_call":
      return [{ uid, type: "text", text: `${block.name} ${block.input}`.trim(), detail }];
    case "reasoning":
      return [{ uid, type: "text", text: block.text, detail }];
    case "image":
      return [block];
  }
}

const NAMED_CALL = /^\s*([\w.-]+)?\s*(\{[\s\S]*\})\s*$/;

function callOfText(text: string, id: string): ToolCallBlock {
  const call = newBlock("tool_call", id) as ToolCallBlock;
  const [, name = "", written = ""] = NAMED_CALL.exec(text) ?? [];
  if (written !== "" && jsonFault(written, "object") === null) {
    return { ...call, name, input: prettyIfJson(written) };
  }
  if (text.trim() === "") return call;
  return { ...call, input: prettyIfJson(JSON.stringify({ text })) };
}

/**
 * A conversation as the editor holds it, and everything that can be done to it.
 *
 * Nothing here is ever changed in place: an operation returns a new list that shares every turn it
 * did not touch, so that a view may compare by identity and undo is keeping the old value. JSON that
 * a person may write (`input`, `detail`) stays text, see `json.ts`. A `uid` names a turn or a block
 * in this window only and is never sent.
 */

export const ROLES = ["system", "user", "assistant"] as const;
export type Role = (typeof ROLES)[number];

export const BLOCK_TYPES = ["text", "image", "reasoning", "tool_call", "tool_result"] as const;
export type BlockType = (typeof BLOCK_TYPES)[number];

export const BLOCK_NOUNS: Readonly<Record<BlockType, string>> = {
  text: "a text",
  image: "an image",
  reasoning: "reasoning",
  tool_call: "a tool call",
  tool_result: "a tool result",
};

/** The block types that a turn of each role may hold (rule P2). */
export const PLACEMENT: Readonly<Record<Role, readonly BlockType[]>> = {
  system: ["text", "image"],
  user: ["text", "image", "tool_result"],
  assistant: ["text", "image", "reasoning", "tool_call"],
};

/** What a tool result holds. */
export const RESULT_HOLDS: readonly BlockType[] = ["text", "image"];

export type Uid = number;
/** JSON text exactly as it was read or typed; it may be broken while somebody types. */
export type JsonText = string;

interface Identified {
  readonly uid: Uid;
  readonly detail: JsonText | null;
}
export interface TextBlock extends Identified {
  readonly type: "text";
  readonly text: string;
}
export interface ImageBlock extends Identified {
  readonly type: "image";
  /** Base64 without a `data:` prefix; empty until a picture is chosen. */
  readonly data: string;
  readonly mimeType: string;
}
export interface ReasoningBlock extends Identified {
  readonly type: "reasoning";
  readonly text: string;
  readonly signature: string | null;
}
export interface ToolCallBlock extends Identified {
  readonly type: "tool_call";
  readonly id: string;
  readonly name: string;
  readonly input: JsonText;
}
export interface ToolResultBlock extends Identified {
  readonly type: "tool_result";
  readonly tool_call_id: string;
  readonly blocks: readonly Block[];
  readonly is_error: boolean;
}
export type Block = TextBlock | ImageBlock | ReasoningBlock | ToolCallBlock | ToolResultBlock;

export interface Turn extends Identified {
  readonly role: Role;
  readonly blocks: readonly Block[];
}
export type Conversation = readonly Turn[];

/** Where something may be put: among the blocks of a turn or of a tool result. */
export interface Spot {
  readonly holder: Uid;
  readonly at: number;
}

let lastUid = 0;

export function newUid(): Uid {
  lastUid += 1;
  return lastUid;
}

// ---- making -------------------------------------------------------------------------------------

export function newTurn(role: Role, blocks: readonly Block[] = [newBlock("text")]): Turn {
  return { uid: newUid(), role, blocks, detail: null };
}

export function newBlock(type: BlockType, callId = ""): Block {
  const uid = newUid();
  const detail = null;
  switch (type) {
    case "text":
      return { uid, type, text: "", detail };
    case "image":
      return { uid, type, data: "", mimeType: "", detail };
    case "reasoning":
      return { uid, type, text: "", signature: null, detail };
    case "tool_call":
      return { uid, type, id: callId, name: "", input: "{}", detail };
    case "tool_result": {
      const blocks = [newBlock("text")];
      return { uid, type, tool_call_id: callId, blocks, is_error: false, detail };
    }
  }
}

/** An id that no call of the conversation has: `call_1`, `call_2` ... */
export function freshCallId(turns: Conversation): string {
  const taken = new Set<string>();
  for (const turn of turns) {
    for (const block of turn.blocks) {
      if (block.type === "tool_call") taken.add(block.id);
      if (block.type === "tool_result") taken.add(block.tool_call_id);
    }
  }
  let number = 1;
  while (taken.has(`call_${number}`)) number += 1;
  return `call_${number}`;
}

// ---- finding ------------------------------------------------------------------------------------

export function indexOfTurn(turns: Conversation, uid: Uid): number {
  return turns.findIndex((turn) => turn.uid === uid);
}

export interface Found {
  readonly turn: Turn;
  readonly turnIndex: number;
  readonly block: Block;
  /** Position among the blocks of its holder. */
  readonly at: number;
  /** The tool result that holds the block, if one does. */
  readonly result: ToolResultBlock | null;
}

export function findBlock(turns: Conversation, uid: Uid): Found | null {
  for (const [turnIndex, turn] of turns.entries()) {
    for (const [at, block] of turn.blocks.entries()) {
      if (block.uid === uid) return { turn, turnIndex, block, at, result: null };
      if (block.type !== "tool_result") continue;
      const inner = block.blocks.findIndex((each) => each.uid === uid);
      const held = block.blocks[inner];
      if (held) return { turn, turnIndex, block: held, at: inner, result: block };
    }
  }
  return null;
}

/** The block types that may be put into a turn or a tool result. */
export function allowedIn(turns: Conversation, holder: Uid): readonly BlockType[] {
  const turn = turns.find((each) => each.uid === holder);
  if (turn) return PLACEMENT[turn.role];
  return findBlock(turns, holder)?.block.type === "tool_result" ? RESULT_HOLDS : [];
}

// ---- turns --------------------------------------------------------------------------------------

export function insertTurn(turns: Conversation, at: number, turn: Turn): Conversation {
  return turns.toSpliced(at, 0, turn);
}

export function removeTurn(turns: Conversation, uid: Uid): Conversation {
  const kept = turns.filter((turn) => turn.uid !== uid);
  return kept.length === turns.length ? turns : kept;
}

/** Put a turn at the position `to` that it will have afterwards. */
export function moveTurn(turns: Conversation, uid: Uid, to: number): Conversation {
  const from = indexOfTurn(turns, uid);
  const turn = turns[from];
  const target = Math.max(0, Math.min(to, turns.length - 1));
  if (!turn || from === target) return turns;
  return turns.toSpliced(from, 1).toSpliced(target, 0, turn);
}

/** A copy right after the turn, blocks and ids of calls included. */
export function duplicateTurn(turns: Conversation, uid: Uid): Conversation {
  const index = indexOfTurn(turns, uid);
  const turn = turns[index];
  return turn ? insertTurn(turns, index + 1, copyTurn(turn)) : turns;
}

/** Change a turn's role. Blocks stay, also where they may not stand now: that is a problem shown. */
export function setRole(turns: Conversation, uid: Uid, role: Role): Conversation {
  return changeTurn(turns, uid, (turn) => (turn.role === role ? turn : { ...turn, role }));
}

export function changeTurn(
  turns: Conversation,
  uid: Uid,
  change: (turn: Turn) => Turn,
): Conversation {
  const index = indexOfTurn(turns, uid);
  const turn = turns[index];
  if (!turn) return turns;
  const changed = change(turn);
  return changed === turn ? turns : turns.with(index, changed);
}

// ---- blocks -------------------------------------------------------------------------------------

export function insertBlock(turns: Conversation, spot: Spot, ...blocks: Block[]): Conversation {
  return changeHeld(turns, spot.holder, (held) => held.toSpliced(spot.at, 0, ...blocks));
}

export function removeBlock(turns: Conversation, uid: Uid): Conversation {
  return replaceBlock(turns, uid, () => []);
}

/** Move a block to a spot; `spot.at` counts positions with the block already taken out. */
export function moveBlock(turns: Conversation, uid: Uid, spot: Spot): Conversation {
  const found = findBlock(turns, uid);
  if (!found || spot.holder === uid) return turns;
  const holder = found.result?.uid ?? found.turn.uid;
  if (holder === spot.holder && found.at === spot.at) return turns;
  return insertBlock(removeBlock(turns, uid), spot, found.block);
}

/** A copy right after the block; a copied call gets an id of its own. */
export function duplicateBlock(turns: Conversation, uid: Uid): Conversation {
  const copy = (block: Block): Block => {
    const copied = copyBlock(block);
    return copied.type === "tool_call" ? { ...copied, id: freshCallId(turns) } : copied;
  };
  return replaceBlock(turns, uid, (block) => [block, copy(block)]);
}

export function changeBlock(
  turns: Conversation,
  uid: Uid,
  change: (block: Block) => Block,
): Conversation {
  return replaceBlock(turns, uid, (block) => [change(block)]);
}

/** Set fields of a block, whatever its type; the caller knows the block. */
export function patchBlock<B extends Block>(
  turns: Conversation,
  uid: Uid,
  patch: Partial<Omit<B, "uid" | "type">>,
): Conversation {
  return changeBlock(turns, uid, (block) => {
    const same = Object.entries(patch).every(([key, value]) => Reflect.get(block, key) === value);
    return same ? block : ({ ...block, ...patch } as Block);
  });
}

// ---- inside -------------------------------------------------------------------------------------

function copyTurn(turn: Turn): Turn {
  return { ...turn, uid: newUid(), blocks: turn.blocks.map(copyBlock) };
}

function copyBlock(block: Block): Block {
  const uid = newUid();
  if (block.type !== "tool_result") return { ...block, uid };
  return { ...block, uid, blocks: block.blocks.map(copyBlock) };
}

/** Change the list of blocks that a turn or a tool result holds. */
function changeHeld(
  turns: Conversation,
  holder: Uid,
  change: (held: readonly Block[]) => readonly Block[],
): Conversation {
  if (indexOfTurn(turns, holder) >= 0) {
    return changeTurn(turns, holder, (turn) => ({ ...turn, blocks: change(turn.blocks) }));
  }
  return changeBlock(turns, holder, (block) =>
    block.type === "tool_result" ? { ...block, blocks: change(block.blocks) } : block,
  );
}

/** Put what `replace` returns where the block is; every list without it stays the same object. */
export function replaceBlock(
  turns: Conversation,
  uid: Uid,
  replace: (block: Block) => readonly Block[],
): Conversation {
  const found = findBlock(turns, uid);
  if (!found) return turns;
  const replaced = replace(found.block);
  if (replaced.length === 1 && replaced[0] === found.block) return turns;
  const holder = found.result?.uid ?? found.turn.uid;
  return changeHeld(turns, holder, (held) => held.toSpliced(found.at, 1, ...replaced));
}

/** What a key, a button or a menu does: one function a change, with the focus where it belongs. */

import * as calls from "./calls.ts";
import type { Editor } from "./editor.ts";
import type { Block, BlockType, Role, Turn, Uid } from "./model.ts";
import * as model from "./model.ts";
import { pictureIn, readPicture } from "./picture.ts";
import * as retyping from "./retyping.ts";
import { withTyped } from "./typing.ts";

// ---- turns --------------------------------------------------------------------------------------

/** The turn that most likely comes at a place: an answer to the one before. */
export function likelyTurn(turns: model.Conversation, at: number): Turn {
  const before = turns[at - 1];
  if (before?.role === "assistant") {
    const answered = new Set(calls.resultsAfter(turns, at - 1).map((each) => each.tool_call_id));
    const open = before.blocks.flatMap((block) =>
      block.type === "tool_call" && !answered.has(block.id) ? [block.id] : [],
    );
    if (open.length === 0) return model.newTurn("user");
    const results = open.map((id) => model.newBlock("tool_result", id));
    return model.newTurn("user", results);
  }
  return model.newTurn(before?.role === "user" ? "assistant" : "user");
}

export function addTurn(editor: Editor, at: number, role?: Role): void {
  const turn = role ? model.newTurn(role) : likelyTurn(editor.turns, at);
  editor.changeTurns("Add a turn", turn.uid, model.insertTurn(editor.turns, at, turn));
  focusBlock(editor, turn, firstField(turn.blocks));
}

export function addTurnBeside(editor: Editor, side: "before" | "after"): void {
  const index = editor.selected === null ? -1 : model.indexOfTurn(editor.turns, editor.selected);
  const end = editor.turns.length;
  addTurn(editor, index < 0 ? end : side === "before" ? index : index + 1);
}

export function moveTurn(editor: Editor, uid: Uid, to: number): void {
  editor.changeTurns("Move a turn", uid, model.moveTurn(editor.turns, uid, to));
  editor.reveal({ turn: uid, block: null, field: null });
}

export function moveTurnBy(editor: Editor, uid: Uid, steps: number): void {
  moveTurn(editor, uid, model.indexOfTurn(editor.turns, uid) + steps);
}

export function setRole(editor: Editor, uid: Uid, role: Role): void {
  editor.changeTurns("Change a role", uid, model.setRole(editor.turns, uid, role));
}

export function duplicateTurn(editor: Editor, uid: Uid): void {
  const turns = model.duplicateTurn(editor.turns, uid);
  const copy = turns[model.indexOfTurn(turns, uid) + 1];
  editor.changeTurns("Duplicate a turn", copy?.uid ?? uid, turns);
  if (copy) editor.reveal({ turn: copy.uid, block: null, field: null });
}

export function removeTurn(editor: Editor, uid: Uid): void {
  const index = model.indexOfTurn(editor.turns, uid);
  const turns = model.removeTurn(editor.turns, uid);
  editor.changeTurns("Delete a turn", uid, turns);
  const next = turns[Math.min(index, turns.length - 1)];
  if (next) editor.reveal({ turn: next.uid, block: null, field: null });
}

// ---- blocks -------------------------------------------------------------------------------------

/** Put a new block at the end of a turn, or among what a tool result holds. */
export function addBlock(editor: Editor, holder: Uid, type: BlockType, after?: Uid): void {
  if (!model.allowedIn(editor.turns, holder).includes(type)) return;
  const block = blockFor(editor, holder, type);
  const held = heldBy(editor, holder);
  const at = after === undefined ? held.length : held.findIndex((each) => each.uid === after) + 1;
  const turns = model.insertBlock(editor.turns, { holder, at }, block);
  editor.changeTurns(`Add ${model.BLOCK_NOUNS[type]}`, block.uid, turns);
  const turn = model.findBlock(turns, block.uid)?.turn;
  if (turn) focusBlock(editor, turn, firstField([block]));
}

function blockFor(editor: Editor, holder: Uid, type: BlockType): Block {
  if (type === "tool_call") return model.newBlock(type, model.freshCallId(editor.turns));
  if (type !== "tool_result") return model.newBlock(type);
  const index = model.indexOfTurn(editor.turns, holder);
  return model.newBlock(type, calls.openCallBefore(editor.turns, index));
}

function heldBy(editor: Editor, holder: Uid): readonly Block[] {
  const turn = editor.turns.find((each) => each.uid === holder);
  if (turn) return turn.blocks;
  const block = model.findBlock(editor.turns, holder)?.block;
  return block?.type === "tool_result" ? block.blocks : [];
}

export function removeBlock(editor: Editor, uid: Uid): void {
  const found = model.findBlock(editor.turns, uid);
  if (!found) return;
  const noun = model.BLOCK_NOUNS[found.block.type];
  editor.changeTurns(`Delete ${noun}`, uid, model.removeBlock(editor.turns, uid));
  editor.reveal({ turn: found.turn.uid, block: null, field: null });
}

export function duplicateBlock(editor: Editor, uid: Uid): void {
  editor.changeTurns("Duplicate a block", uid, model.duplicateBlock(editor.turns, uid));
}

export function retypeBlock(editor: Editor, uid: Uid, type: BlockType): void {
  const turns = retyping.retypeBlock(editor.turns, uid, type);
  editor.changeTurns(`Turn into ${model.BLOCK_NOUNS[type]}`, uid, turns);
}

/** One place up or down; out of its turn into the next one at the end. */
export function moveBlockBy(editor: Editor, uid: Uid, steps: -1 | 1): void {
  const found = model.findBlock(editor.turns, uid);
  if (!found) return;
  const holder = found.result?.uid ?? found.turn.uid;
  const at = found.at + steps;
  if (at >= 0 && at < heldBy(editor, holder).length) {
    moveBlock(editor, uid, { holder, at });
    return;
  }
  const next = found.result ? undefined : editor.turns[found.turnIndex + steps];
  if (next) moveBlock(editor, uid, { holder: next.uid, at: steps > 0 ? 0 : next.blocks.length });
}

export function moveBlock(editor: Editor, uid: Uid, spot: model.Spot): void {
  const turns = model.moveBlock(editor.turns, uid, spot);
  editor.changeTurns("Move a block", uid, turns);
  const found = model.findBlock(turns, uid);
  if (found) editor.reveal({ turn: found.turn.uid, block: uid, field: null });
}

export function answerCall(editor: Editor, uid: Uid): void {
  const answered = calls.answerCall(editor.turns, uid);
  if (!answered) return;
  editor.changeTurns("Add a result", answered.result, answered.turns);
  const found = model.findBlock(answered.turns, answered.result);
  if (found) focusBlock(editor, found.turn, firstField([found.block]));
}

// ---- fields -------------------------------------------------------------------------------------

export function typeText(editor: Editor, uid: Uid, shown: string): void {
  const turns = model.changeBlock(editor.turns, uid, (block) =>
    block.type === "text" || block.type === "reasoning"
      ? { ...block, text: withTyped(block.text, shown) }
      : block,
  );
  editor.changeTurns("Typing", uid, turns, `text ${uid}`);
}

export function typeInput(editor: Editor, uid: Uid, input: string): void {
  const turns = model.patchBlock<model.ToolCallBlock>(editor.turns, uid, { input });
  editor.changeTurns("Typing", uid, turns, `input ${uid}`);
}

export function typeName(editor: Editor, uid: Uid, name: string): void {
  const turns = model.patchBlock<model.ToolCallBlock>(editor.turns, uid, { name });
  editor.changeTurns("Name a tool", uid, turns, `name ${uid}`);
}

/** The `detail` of a block or a turn; an empty text takes it away. */
export function typeDetail(editor: Editor, uid: Uid, written: string): void {
  const detail = written.trim() === "" ? null : written;
  const turns =
    model.indexOfTurn(editor.turns, uid) >= 0
      ? model.changeTurn(editor.turns, uid, (turn) => ({ ...turn, detail }))
      : model.patchBlock(editor.turns, uid, { detail });
  editor.changeTurns("Typing", uid, turns, `detail ${uid}`);
}

export function renameCall(editor: Editor, uid: Uid, id: string): void {
  editor.changeTurns("Rename a call", uid, calls.renameCall(editor.turns, uid, id));
}

export function chooseCall(editor: Editor, uid: Uid, id: string): void {
  const turns = model.patchBlock<model.ToolResultBlock>(editor.turns, uid, { tool_call_id: id });
  editor.changeTurns("Tie a result to a call", uid, turns);
}

export function setError(editor: Editor, uid: Uid, is_error: boolean): void {
  const turns = model.patchBlock<model.ToolResultBlock>(editor.turns, uid, { is_error });
  editor.changeTurns("Mark an error", uid, turns);
}

export function dropSignature(editor: Editor, uid: Uid): void {
  const turns = model.patchBlock<model.ReasoningBlock>(editor.turns, uid, { signature: null });
  editor.changeTurns("Take the signature off", uid, turns);
}

/** Put a picture into an image block. */
export async function setPicture(editor: Editor, uid: Uid, file: Blob): Promise<void> {
  try {
    const picture = await readPicture(file);
    const turns = model.patchBlock<model.ImageBlock>(editor.turns, uid, picture);
    editor.changeTurns("Choose a picture", uid, turns);
  } catch (error) {
    editor.say(error instanceof Error ? error.message : String(error), "danger");
  }
}

/** A picture pasted or dropped where text is: a new block after that one. True if there was one. */
export function addPicture(
  editor: Editor,
  transfer: DataTransfer | null,
  holder: Uid,
  after?: Uid,
): boolean {
  const file = pictureIn(transfer);
  if (!file || !model.allowedIn(editor.turns, holder).includes("image")) return false;
  void readPicture(file).then(
    (picture) => {
      const block = { ...(model.newBlock("image") as model.ImageBlock), ...picture };
      const held = heldBy(editor, holder);
      const found = held.findIndex((each) => each.uid === after);
      const at = found < 0 ? held.length : found + 1;
      const turns = model.insertBlock(editor.turns, { holder, at }, block);
      editor.changeTurns("Add an image", block.uid, turns);
    },
    (error: Error) => editor.say(error.message, "danger"),
  );
  return true;
}

// ---- focus --------------------------------------------------------------------------------------

interface Field {
  readonly block: Uid | null;
  readonly field: string | null;
}

function firstField(blocks: readonly Block[]): Field {
  const block = blocks[0];
  switch (block?.type) {
    case "text":
    case "reasoning":
      return { block: block.uid, field: "text" };
    case "tool_call":
      return { block: block.uid, field: "name" };
    case "tool_result":
      return block.blocks.length > 0
        ? firstField(block.blocks)
        : { block: block.uid, field: "tool_call_id" };
    case "image":
      return { block: block.uid, field: "data" };
    case undefined:
      return { block: null, field: null };
  }
}

function focusBlock(editor: Editor, turn: Turn, { block, field }: Field): void {
  editor.reveal({ turn: turn.uid, block, field });
}

/** Begin to write in a turn: in its first field. */
export function editTurn(editor: Editor, uid: Uid): void {
  const turn = editor.turns.find((each) => each.uid === uid);
  if (turn) focusBlock(editor, turn, firstField(turn.blocks));
}

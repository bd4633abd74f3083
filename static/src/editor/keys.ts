/** The keyboard. Keys that a text needs are left to it; the rest work on the selected turn. */

import { isPlain, isTyping } from "../frame/typing.ts";
import {
  addBlock,
  addTurnBeside,
  duplicateTurn,
  editTurn,
  moveBlockBy,
  moveTurnBy,
  removeTurn,
  setRole,
} from "./commands.ts";
import type { Editor } from "./editor.ts";
import { type BlockType, ROLES } from "./model.ts";

export interface KeyLine {
  readonly keys: readonly string[];
  readonly does: string;
}

/** What the sheet shows; `listenForKeys` does it. */
export const SHEET: readonly { readonly title: string; readonly lines: readonly KeyLine[] }[] = [
  {
    title: "Turns",
    lines: [
      { keys: ["j", "k"], does: "Next and previous turn" },
      { keys: ["Enter", "e"], does: "Write in the turn" },
      { keys: ["Esc"], does: "Stop writing, close the panel" },
      { keys: ["a", "b"], does: "Add a turn after, before" },
      { keys: ["1", "2", "3"], does: "Make it system, user, assistant" },
      { keys: ["Alt ↑", "Alt ↓"], does: "Move the turn" },
      { keys: ["d"], does: "Duplicate the turn" },
      { keys: ["Delete"], does: "Delete the turn" },
    ],
  },
  {
    title: "Blocks",
    lines: [
      { keys: ["t"], does: "Add a text" },
      { keys: ["i"], does: "Add an image" },
      { keys: ["r"], does: "Add reasoning" },
      { keys: ["c"], does: "Add a tool call" },
      { keys: ["o"], does: "Add a tool result" },
      { keys: ["Alt Shift ↑", "Alt Shift ↓"], does: "Move the block" },
    ],
  },
  {
    title: "Everywhere",
    lines: [
      { keys: ["Ctrl Enter"], does: "Save" },
      { keys: ["Ctrl Z"], does: "Undo" },
      { keys: ["Ctrl Shift Z"], does: "Redo" },
      { keys: ["?"], does: "This sheet" },
    ],
  },
];

const BLOCK_OF_KEY: Readonly<Record<string, BlockType>> = {
  t: "text",
  i: "image",
  r: "reasoning",
  c: "tool_call",
  o: "tool_result",
};

export function listenForKeys(root: HTMLElement, editor: Editor, openSheet: () => void): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const target = event.target as HTMLElement;
    if (target.closest("dialog")) return;
    const done =
      withControl(event, editor) ||
      withAlt(event, editor) ||
      (event.key === "Enter" && isBeside(event) && save(editor)) ||
      (event.key === "Escape" && (closePanel(root, editor) || leaveField(root, target))) ||
      (!isTyping(event) && isPlain(event) && plain(event, editor, openSheet));
    if (done) event.preventDefault();
  });
}

function withControl(event: KeyboardEvent, editor: Editor): boolean {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return false;
  switch (event.key.toLowerCase()) {
    case "enter":
    case "s":
      leaveInput();
      return save(editor);
    case "z":
      if (isBeside(event)) return false;
      if (event.shiftKey) editor.redo();
      else editor.undo();
      return true;
    case "y":
      if (isBeside(event)) return false;
      editor.redo();
      return true;
    default:
      return false;
  }
}

function save(editor: Editor): true {
  void editor.save();
  return true;
}

/** Where the panel lies over the conversation; beside it, it has no button to close it. */
function closePanel(root: HTMLElement, editor: Editor): boolean {
  const button = root.querySelector<HTMLElement>(".side__close");
  if (!editor.panelOpen || !button || getComputedStyle(button).display === "none") return false;
  leaveInput();
  editor.togglePanel(false);
  root.querySelector<HTMLElement>(".editor__panel")?.focus();
  return true;
}

/** The message of a save is no part of what is undone. */
function isBeside(event: KeyboardEvent): boolean {
  return (event.target as HTMLElement).matches("[data-field=message]");
}

/** A field that is taken over when it is left, like the id of a call, is taken over by a save. */
function leaveInput(): void {
  const active = document.activeElement;
  if (active instanceof HTMLInputElement) {
    active.dispatchEvent(new Event("change", { bubbles: true }));
  }
}

function withAlt(event: KeyboardEvent, editor: Editor): boolean {
  if (!event.altKey || event.ctrlKey || event.metaKey || editor.readOnly) return false;
  const steps = { ArrowUp: -1, ArrowDown: 1 }[event.key] as -1 | 1 | undefined;
  if (steps === undefined) return false;
  const block = (event.target as HTMLElement).closest<HTMLElement>("[data-block]");
  if (event.shiftKey) {
    if (block) moveBlockBy(editor, Number(block.dataset.block), steps);
  } else if (editor.selected !== null) moveTurnBy(editor, editor.selected, steps);
  return true;
}

/** From a field to its turn, so that the plain keys work again. */
function leaveField(root: HTMLElement, target: HTMLElement): boolean {
  if (!root.contains(target) || !target.matches("input, textarea, select")) return false;
  const turn = target.closest<HTMLElement>(".ed-turn");
  if (turn) turn.focus({ preventScroll: true });
  else target.blur();
  return true;
}

function plain(event: KeyboardEvent, editor: Editor, openSheet: () => void): boolean {
  if (event.key === "?") {
    openSheet();
    return true;
  }
  if (editor.conflict) return false;
  if (event.key === "j" || event.key === "k") {
    const turn = editor.neighbour(event.key === "j" ? 1 : -1);
    if (turn) editor.reveal({ turn: turn.uid, block: null, field: null });
    return turn !== null;
  }
  if (editor.readOnly) return false;
  if (event.key === "a" || event.key === "b") {
    addTurnBeside(editor, event.key === "a" ? "after" : "before");
    return true;
  }
  return editor.selected !== null && onTurn(event, editor, editor.selected);
}

function onTurn(event: KeyboardEvent, editor: Editor, turn: number): boolean {
  const onButton = (event.target as HTMLElement).closest("button, a, summary") !== null;
  const role = ROLES[Number(event.key) - 1];
  const block = BLOCK_OF_KEY[event.key];
  if (event.key === "e" || (event.key === "Enter" && !onButton)) editTurn(editor, turn);
  else if (role) setRole(editor, turn, role);
  else if (block) addBlock(editor, turn, block);
  else if (event.key === "d") duplicateTurn(editor, turn);
  else if (event.key === "Delete") removeTurn(editor, turn);
  else return false;
  return true;
}

/** Moving turns and blocks with the mouse. The keyboard has Alt+Up and Alt+Down for the same. */

import { moveBlock, moveTurn } from "./commands.ts";
import type { Editor } from "./editor.ts";
import { allowedIn, findBlock, indexOfTurn, type Uid } from "./model.ts";

interface Dragged {
  readonly kind: "turn" | "block";
  readonly uid: Uid;
}

interface Drop {
  readonly element: HTMLElement;
  readonly side: "before" | "after";
  readonly run: () => void;
}

/** Listens on the whole editor; a grip carries `data-drags="turn"` or `data-drags="block"`. */
export function listenForDrags(root: HTMLElement, editor: Editor): void {
  let dragged: Dragged | null = null;
  let drop: Drop | null = null;

  const mark = (next: Drop | null): void => {
    if (drop?.element === next?.element && drop?.side === next?.side) return;
    drop?.element.removeAttribute("data-drop");
    next?.element.setAttribute("data-drop", next.side);
    drop = next;
  };

  root.addEventListener("dragstart", (event) => {
    const grip = (event.target as HTMLElement).closest<HTMLElement>("[data-drags]");
    if (!grip || !event.dataTransfer) return;
    const kind = grip.dataset.drags === "block" ? "block" : "turn";
    dragged = { kind, uid: uidOf(grip, kind) };
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", "");
    const card = grip.closest<HTMLElement>(`[data-${kind}]`);
    if (card) event.dataTransfer.setDragImage(card, 24, 16);
    root.classList.add("is-dragging");
  });

  root.addEventListener("dragover", (event) => {
    if (!dragged) return;
    const next = dropAt(editor, dragged, event);
    mark(next);
    if (next) event.preventDefault();
  });

  root.addEventListener("drop", (event) => {
    if (!dragged) return;
    event.preventDefault();
    drop?.run();
  });

  root.addEventListener("dragend", () => {
    mark(null);
    dragged = null;
    root.classList.remove("is-dragging");
  });
}

function uidOf(element: HTMLElement, kind: "turn" | "block"): Uid {
  return Number(element.closest<HTMLElement>(`[data-${kind}]`)?.dataset[kind]);
}

function dropAt(editor: Editor, dragged: Dragged, event: DragEvent): Drop | null {
  const over = event.target as HTMLElement;
  if (dragged.kind === "block") {
    const block = over.closest<HTMLElement>("[data-block]");
    if (block) return dropAtBlock(editor, dragged.uid, block, event);
    const turn = over.closest<HTMLElement>(".ed-turn[data-turn]");
    return turn && dropInTurn(editor, dragged.uid, turn);
  }
  const element = over.closest<HTMLElement>("[data-turn]");
  if (!element) return null;
  const side = sideOf(element, event);
  const from = indexOfTurn(editor.turns, dragged.uid);
  const at = indexOfTurn(editor.turns, uidOf(element, "turn")) + (side === "after" ? 1 : 0);
  const to = at > from ? at - 1 : at;
  return { element, side, run: () => moveTurn(editor, dragged.uid, to) };
}

function dropAtBlock(
  editor: Editor,
  uid: Uid,
  element: HTMLElement,
  event: DragEvent,
): Drop | null {
  const over = uidOf(element, "block");
  const there = findBlock(editor.turns, over);
  const moved = findBlock(editor.turns, uid);
  if (!there || !moved || there.result?.uid === uid) return null;
  const holder = there.result?.uid ?? there.turn.uid;
  if (!allowedIn(editor.turns, holder).includes(moved.block.type)) return null;
  const side = sideOf(element, event);
  const at = there.at + (side === "after" ? 1 : 0);
  const same = (moved.result?.uid ?? moved.turn.uid) === holder;
  const spot = { holder, at: same && moved.at < at ? at - 1 : at };
  return { element, side, run: () => moveBlock(editor, uid, spot) };
}

/** Over a turn's head or an empty turn: to its end. */
function dropInTurn(editor: Editor, uid: Uid, element: HTMLElement): Drop | null {
  const holder = uidOf(element, "turn");
  const moved = findBlock(editor.turns, uid);
  if (!moved || !allowedIn(editor.turns, holder).includes(moved.block.type)) return null;
  const turn = editor.turns.find((each) => each.uid === holder);
  const last = turn?.blocks.length ?? 0;
  const at = moved.turn.uid === holder && !moved.result ? last - 1 : last;
  return { element, side: "after", run: () => moveBlock(editor, uid, { holder, at }) };
}

function sideOf(element: HTMLElement, event: DragEvent): "before" | "after" {
  const box = element.getBoundingClientRect();
  return event.clientY < box.top + box.height / 2 ? "before" : "after";
}

/** The task editor, bound to its place in the page. */

import "./editor.css";
import { render } from "lit/html.js";
import { clearToasts, toast } from "../frame/toasts.ts";
import { Drafts } from "./draft.ts";
import { listenForDrags } from "./dragging.ts";
import { Editor } from "./editor.ts";
import { growWhereNeeded } from "./growing.ts";
import { listenForKeys } from "./keys.ts";
import type { Target } from "./place.ts";
import type { Handed } from "./server.ts";
import { pageView } from "./view/page.ts";

export function taskEditor(root: HTMLElement): void {
  const handed = JSON.parse(document.getElementById("task-editor-data")?.textContent ?? "");
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  let focusLater: Target | undefined;
  const openSheet = (): void => root.querySelector<HTMLDialogElement>("dialog.sheet")?.showModal();

  const editor: Editor = new Editor(handed as Handed, {
    draw(focus) {
      if (focus) focusLater = focus;
      render(pageView(editor, openSheet), root);
      growWhereNeeded(root);
      const target = focusLater;
      focusLater = undefined;
      if (target) focusOn(root, target);
    },
    announce: toast,
    unsay: clearToasts,
    drafts: (person, address) => new Drafts(person, address),
    now: () => Date.now(),
    later(name, milliseconds, run) {
      clearTimeout(timers.get(name));
      timers.set(name, setTimeout(run, milliseconds));
    },
    renamed(title, address) {
      if (address) history.replaceState(history.state, "", address);
      document.title = document.title.replace(/^[^·]*/, `${title} `);
      const here = document.querySelector(".breadcrumb [aria-current] span");
      if (here) here.textContent = title;
    },
  });

  root.replaceChildren();
  render(pageView(editor, openSheet), root);
  growWhereNeeded(root);
  root.removeAttribute("aria-busy");
  performance.mark("editor drawn");
  void editor.preview();
  listenForKeys(root, editor, openSheet);
  listenForDrags(root, editor);
  root.addEventListener("focusin", (event) => {
    const turn = (event.target as HTMLElement).closest<HTMLElement>(".ed-turn")?.dataset.turn;
    if (turn) editor.select(Number(turn));
  });
  root.addEventListener("pointerover", (event) => {
    const turn = (event.target as HTMLElement).closest<HTMLElement>(".ed-turn")?.dataset.turn;
    editor.hover(turn ? Number(turn) : null);
  });
  root.addEventListener("focusout", () => editor.endTyping());
  // Undo is the editor's: the browser's own knows one text area only.
  root.addEventListener("beforeinput", (event) => {
    if (event.inputType !== "historyUndo" && event.inputType !== "historyRedo") return;
    if ((event.target as HTMLElement).matches("[data-field=message]")) return;
    event.preventDefault();
    if (event.inputType === "historyUndo") editor.undo();
    else editor.redo();
  });
  addEventListener("beforeunload", (event) => {
    if (!editor.isDirty) return;
    editor.keep();
    event.preventDefault();
  });
  addEventListener("pagehide", () => {
    if (editor.isDirty) editor.keep();
  });
}

/** Put the focus on a field, a block or a turn, and it into view without moving more than needed. */
function focusOn(root: HTMLElement, { turn, block, field }: Target): void {
  const scope =
    block !== null
      ? root.querySelector<HTMLElement>(`[data-block="${block}"]`)
      : turn !== null
        ? root.querySelector<HTMLElement>(`.ed-turn[data-turn="${turn}"]`)
        : root;
  const inside = field === null ? null : scope?.querySelector<HTMLElement>(fieldIn(field));
  const element = inside ?? (scope === root ? null : scope);
  if (!element) return;
  element.focus({ preventScroll: true });
  if (field === "conflict") {
    element.scrollIntoView({ block: "start" });
    return;
  }
  const seen = field === null || element.offsetHeight > 300 ? element : (scope ?? element);
  (seen === root ? element : seen).scrollIntoView({ block: "nearest" });
}

function fieldIn(field: string): string {
  const name = CSS.escape(field);
  return `:is(input, select, textarea, section)[data-field="${name}"], [data-field="${name}"] input`;
}

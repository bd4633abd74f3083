import { isPlain, isTyping } from "./typing.ts";

/** `?` opens the sheet of keys, except where a page has one of its own. */
export function keySheet(element: HTMLElement): void {
  const dialog = element as HTMLDialogElement;
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || isTyping(event) || !isPlain(event)) return;
    if (document.querySelector('[data-behaviour~="task-editor"]')) return;
    event.preventDefault();
    dialog.showModal();
  });
}

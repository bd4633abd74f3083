import { autoSubmit } from "./frame/auto_submit.ts";
import { copyButton } from "./frame/copy.ts";
import { fileDrop } from "./frame/file_drop.ts";
import { keySheet } from "./frame/key_sheet.ts";
import { modal } from "./frame/modal.ts";
import { palette } from "./frame/palette.ts";
import { railFold } from "./frame/rail.ts";
import { roleKeys } from "./frame/role_keys.ts";
import { rowKeys } from "./frame/row_keys.ts";
import { siblingKeys } from "./frame/sibling_keys.ts";
import { themeSwitch } from "./frame/theme.ts";
import { dismissable } from "./frame/toasts.ts";

export type Behaviour = (element: HTMLElement) => unknown;

/** What `data-behaviour="name"` in a template means. Heavy ones are loaded when a page has them. */
export const behaviours: Record<string, Behaviour> = {
  "auto-submit": autoSubmit,
  "code-editor": (element) =>
    import("./code/editor.ts").then(({ codeEditor }) => codeEditor(element)),
  copy: copyButton,
  dismissable,
  "file-drop": fileDrop,
  "key-sheet": keySheet,
  modal,
  palette,
  "rail-fold": railFold,
  "role-keys": roleKeys,
  "row-keys": rowKeys,
  "sibling-keys": siblingKeys,
  "task-editor": (element) =>
    import("./editor/index.ts").then(({ taskEditor }) => taskEditor(element)),
  "theme-switch": themeSwitch,
};

const bound = new WeakSet<Element>();

/** Give every element below `root` its behaviour, once in its life. */
export function bind(root: ParentNode): void {
  const found = [...root.querySelectorAll<HTMLElement>("[data-behaviour]")];
  if (root instanceof HTMLElement && root.dataset.behaviour) found.unshift(root);
  for (const element of found) {
    if (bound.has(element)) continue;
    bound.add(element);
    for (const name of (element.dataset.behaviour ?? "").split(/\s+/)) {
      const behaviour = behaviours[name];
      if (!behaviour) throw new Error(`data-behaviour="${name}" is not a known behaviour`);
      behaviour(element);
    }
  }
}

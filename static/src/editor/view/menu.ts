/** One menu at a time, beside the button that opened it. */

export interface MenuItem {
  readonly label: string;
  readonly key?: string;
  readonly danger?: boolean;
  readonly run: () => void;
}

/** Groups of items, a line between them; empty groups are left out. */
export function openMenu(opener: HTMLElement, groups: readonly (readonly MenuItem[])[]): void {
  document.querySelector(".menu--editor")?.remove();
  const menu = document.createElement("div");
  menu.className = "menu menu--editor";
  menu.popover = "auto";
  menu.setAttribute("role", "menu");
  menu.setAttribute("aria-label", opener.getAttribute("aria-label") ?? "Actions");
  for (const group of groups.filter((each) => each.length > 0)) {
    if (menu.childElementCount > 0) menu.append(separator());
    menu.append(...group.map((item) => button(item, menu)));
  }
  menu.addEventListener("keydown", (event) => walk(event, menu));
  menu.addEventListener("toggle", (event) => {
    if (event.newState !== "closed") return;
    opener.setAttribute("aria-expanded", "false");
    // The focus goes back, unless an item has already put it somewhere.
    if (menu.contains(document.activeElement) || document.activeElement === document.body) {
      opener.focus();
    }
    menu.remove();
  });
  opener.closest("body")?.append(menu);
  menu.showPopover();
  place(menu, opener);
  opener.setAttribute("aria-expanded", "true");
  menu.querySelector<HTMLElement>("button")?.focus();
}

function button(item: MenuItem, menu: HTMLElement): HTMLElement {
  const element = document.createElement("button");
  element.type = "button";
  element.className = item.danger ? "menu__item menu__item--danger" : "menu__item";
  element.setAttribute("role", "menuitem");
  const label = document.createElement("span");
  label.textContent = item.label;
  element.append(label);
  if (item.key) {
    const key = document.createElement("kbd");
    key.className = "kbd";
    key.textContent = item.key;
    element.append(key);
  }
  element.addEventListener("click", () => {
    menu.hidePopover();
    item.run();
  });
  return element;
}

function separator(): HTMLElement {
  const line = document.createElement("div");
  line.className = "menu__line";
  line.setAttribute("role", "separator");
  return line;
}

function walk(event: KeyboardEvent, menu: HTMLElement): void {
  const items = [...menu.querySelectorAll<HTMLElement>("button")];
  const here = items.indexOf(document.activeElement as HTMLElement);
  const steps = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (steps !== undefined) items.at((here + steps) % items.length)?.focus();
  else if (event.key === "Home") items[0]?.focus();
  else if (event.key === "End") items.at(-1)?.focus();
  else if (event.key === "Tab") menu.hidePopover();
  else if (event.key !== "Escape" && event.key !== "Enter" && event.key !== " ") return;
  else {
    event.stopPropagation();
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}

const EDGE = 8;

function place(menu: HTMLElement, opener: HTMLElement): void {
  const box = opener.getBoundingClientRect();
  const below = box.bottom + 4;
  const fits = below + menu.offsetHeight <= innerHeight - EDGE;
  const top = fits ? below : Math.max(EDGE, box.top - 4 - menu.offsetHeight);
  const left = Math.min(box.left, innerWidth - menu.offsetWidth - EDGE);
  menu.style.top = `${top}px`;
  menu.style.left = `${Math.max(EDGE, left)}px`;
}

import { isPlain, isTyping } from "./typing.ts";

const UP = ".breadcrumb li:nth-last-child(2) a";

/** `j` and `k` walk the rows of the page's table, `Enter` opens (it is a link), `/` searches, `Escape` goes up. */
export function rowKeys(element: HTMLElement): void {
  const links = () => [...element.querySelectorAll<HTMLAnchorElement>("a.row-link")];
  const walk = (event: KeyboardEvent) => {
    if (!element.isConnected) {
      document.removeEventListener("keydown", walk);
      return;
    }
    if (isTyping(event) || !isPlain(event)) return;
    const all = links();
    const here = all.indexOf(document.activeElement as HTMLAnchorElement);
    if (event.key === "j" || event.key === "k") {
      const next = event.key === "j" ? here + 1 : here === -1 ? all.length - 1 : here - 1;
      const link = all[Math.min(Math.max(next, 0), all.length - 1)];
      link?.focus({ preventScroll: true });
      link?.scrollIntoView({ block: "nearest" });
      event.preventDefault();
    } else if (event.key === "Escape") {
      document.querySelector<HTMLAnchorElement>(UP)?.click();
    } else if (event.key === "/") {
      const field = document.querySelector<HTMLInputElement>("input[type=search]");
      if (!field) return;
      field.focus();
      field.select();
      event.preventDefault();
    }
  };
  document.addEventListener("keydown", walk);
}

import { isPlain, isTyping } from "./typing.ts";

const SIBLINGS: Record<string, string> = { j: "next", k: "prev" };

/** `j` and `k` follow the page's links to the next and previous of its kind, `Escape` goes up. */
export function siblingKeys(element: HTMLElement): void {
  const follow = (event: KeyboardEvent) => {
    if (!element.isConnected) {
      document.removeEventListener("keydown", follow);
      return;
    }
    if (isTyping(event) || !isPlain(event)) return;
    const relation = SIBLINGS[event.key];
    const link =
      event.key === "Escape"
        ? document.querySelector<HTMLAnchorElement>(".breadcrumb li:nth-last-child(2) a")
        : relation && document.querySelector<HTMLAnchorElement>(`a[rel="${relation}"][href]`);
    if (!link) return;
    event.preventDefault();
    link.click();
  };
  document.addEventListener("keydown", follow);
}

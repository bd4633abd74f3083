import { isPlain, isTyping } from "./typing.ts";

const PATIENCE_MS = 1200;

/** `g` and then a letter goes to the page of the rail that carries it in `data-go`. */
export function listenForGoKeys(): void {
  let waitingUntil = 0;
  document.addEventListener("keydown", (event) => {
    if (isTyping(event) || !isPlain(event)) return;
    if (event.timeStamp < waitingUntil) {
      waitingUntil = 0;
      const link = document.querySelector<HTMLAnchorElement>(
        `a[data-go="${CSS.escape(event.key)}"]`,
      );
      if (link) {
        event.preventDefault();
        link.click();
      }
    } else if (event.key === "g") {
      waitingUntil = event.timeStamp + PATIENCE_MS;
    }
  });
}

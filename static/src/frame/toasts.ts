import { icon } from "../icons.ts";

type Tone = "ok" | "danger";

const MOST = 3;
const SHOWN_FOR = 6000;

/**
 * Say something at the edge of the page; good news leaves by itself, bad news waits.
 *
 * The newest of a `kind` takes the place of what was said before of that kind, and of its tone
 * where no kind is given: so that saving again, well or not, ends what the last save said, let
 * both have one kind. `clearToasts(kind)` ends it without a word.
 */
export function toast(text: string, tone: Tone = "ok", kind: string = tone): void {
  const region = document.getElementById("toasts");
  if (!region) return;
  clearToasts(kind);
  const element = document.createElement("div");
  element.className = `toast toast--${tone}`;
  element.dataset.kind = kind;
  element.append(tone === "ok" ? icon("circle-check") : icon("circle-alert"));
  const words = document.createElement("p");
  words.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "icon-button";
  close.setAttribute("aria-label", "Dismiss");
  close.append(icon("x"));
  element.append(words, close);
  region.append(element);
  dismissable(element);
  while (region.childElementCount > MOST) region.firstElementChild?.remove();
}

/** Take back what was said of this kind: it is no longer so. */
export function clearToasts(kind: string): void {
  for (const element of document.querySelectorAll<HTMLElement>("#toasts > .toast")) {
    if (element.dataset.kind === kind) element.remove();
  }
}

export function dismissable(element: HTMLElement): void {
  element.querySelector("button")?.addEventListener("click", () => element.remove());
  if (!element.classList.contains("toast--danger")) {
    setTimeout(() => element.remove(), SHOWN_FOR);
  }
}

interface Answered {
  successful: boolean;
  requestConfig?: { verb: string };
}

/** Tell the person when an update of the page was refused or never arrived. */
export function listenForProblems(): void {
  document.addEventListener("htmx:responseError", (event) => {
    const { xhr } = (event as CustomEvent<{ xhr: XMLHttpRequest }>).detail;
    const plain = xhr.getResponseHeader("Content-Type")?.startsWith("text/plain");
    toast(plain ? xhr.responseText : `The server answered ${xhr.status}.`, "danger", "refused");
  });
  let silent = false;
  document.addEventListener("htmx:sendError", () => {
    // A page that polls would say it every second; once is enough until the server is back.
    if (!silent) {
      toast("The server cannot be reached. Nothing was changed.", "danger", "unreachable");
    }
    silent = true;
  });
  document.addEventListener("htmx:afterOnLoad", () => {
    silent = false;
    clearToasts("unreachable");
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const { successful, requestConfig } = (event as CustomEvent<Answered>).detail;
    // What merely reads again, like polling, does not mend what was refused.
    if (successful && requestConfig?.verb !== "get") clearToasts("refused");
  });
}

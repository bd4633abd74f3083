import { icon } from "../icons.ts";

type Tone = "ok" | "danger";

/** Say something at the edge of the page; good news leaves by itself, bad news waits. */
export function toast(text: string, tone: Tone = "ok"): void {
  const region = document.getElementById("toasts");
  if (!region) return;
  const element = document.createElement("div");
  element.className = `toast toast--${tone}`;
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
}

export function dismissable(element: HTMLElement): void {
  element.querySelector("button")?.addEventListener("click", () => element.remove());
  if (!element.classList.contains("toast--danger")) setTimeout(() => element.remove(), 6000);
}

/** Tell the person when an update of the page was refused or never arrived. */
export function listenForProblems(): void {
  document.addEventListener("htmx:responseError", (event) => {
    const { xhr } = (event as CustomEvent<{ xhr: XMLHttpRequest }>).detail;
    const plain = xhr.getResponseHeader("Content-Type")?.startsWith("text/plain");
    toast(plain ? xhr.responseText : `The server answered ${xhr.status}.`, "danger");
  });
  let silent = false;
  document.addEventListener("htmx:sendError", () => {
    // A page that polls would say it every second; once is enough until the server is back.
    if (!silent) toast("The server cannot be reached. Nothing was changed.", "danger");
    silent = true;
  });
  document.addEventListener("htmx:afterOnLoad", () => {
    silent = false;
  });
}

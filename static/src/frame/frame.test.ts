import { beforeEach, expect, test, vi } from "vitest";
import { copyButton } from "./copy.ts";
import { listenForGoKeys } from "./go_keys.ts";
import { keySheet } from "./key_sheet.ts";
import { modal } from "./modal.ts";
import { palette } from "./palette.ts";
import { railFold } from "./rail.ts";
import { rowKeys } from "./row_keys.ts";
import { currentTheme, setTheme, themeSwitch } from "./theme.ts";
import { tidyAddresses } from "./tidy_addresses.ts";
import { clearToasts, listenForProblems, toast } from "./toasts.ts";

function press(key: string, options: KeyboardEventInit = {}, target: EventTarget = document.body) {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...options });
  target.dispatchEvent(event);
  return event;
}

function found<T extends HTMLElement>(selector: string): T {
  const element = document.querySelector<T>(selector);
  if (!element) throw new Error(`${selector} is not there`);
  return element;
}

listenForProblems();

beforeEach(() => {
  document.documentElement.removeAttribute("data-theme");
  document.body.innerHTML = '<div id="toasts"></div>';
});

test("the theme that was chosen wins and is remembered in a cookie", () => {
  setTheme("dark");
  expect(currentTheme()).toBe("dark");
  expect(document.cookie).toContain("theme=dark");
  setTheme("light");
  expect(currentTheme()).toBe("light");
});

test("the switch says whether the dark theme is on", () => {
  document.body.innerHTML = "<button></button>";
  const button = found("button");
  themeSwitch(button);
  const before = button.getAttribute("aria-pressed");
  button.click();
  expect(button.getAttribute("aria-pressed")).not.toBe(before);
});

test("good news leaves by itself, bad news waits to be dismissed", () => {
  vi.useFakeTimers();
  toast("Saved.");
  toast("Refused.", "danger");
  vi.advanceTimersByTime(10_000);
  expect(found("#toasts").textContent).toBe("Refused.");
  found("#toasts button").click();
  expect(found("#toasts").textContent).toBe("");
  vi.useRealTimers();
});

test("the newest of a kind takes the place of the one before", () => {
  toast("Not saved: turn 1 is empty.", "danger", "save");
  toast("The server answered 500.", "danger", "refused");
  toast("Not saved: turn 2 is empty.", "danger", "save");
  expect(found("#toasts").textContent).toBe("The server answered 500.Not saved: turn 2 is empty.");
  toast("Saved.", "ok", "save");
  expect(found("#toasts").textContent).toBe("The server answered 500.Saved.");
  clearToasts("refused");
  expect(found("#toasts").textContent).toBe("Saved.");
});

test("at most three things are said at once, the newest", () => {
  for (const word of ["one", "two", "three", "four"]) toast(word, "danger", word);
  expect(found("#toasts").textContent).toBe("twothreefour");
});

test("what was refused is settled by the next change, not by reading again", () => {
  const after = (verb: string) =>
    document.dispatchEvent(
      new CustomEvent("htmx:afterRequest", {
        detail: { successful: true, requestConfig: { verb } },
      }),
    );
  toast("Refused.", "danger", "refused");
  after("get");
  expect(found("#toasts").textContent).toBe("Refused.");
  after("post");
  expect(found("#toasts").textContent).toBe("");
});

test("a dialog that arrives opens, and leaves when it is closed", () => {
  document.body.innerHTML = "<dialog></dialog>";
  const dialog = found<HTMLDialogElement>("dialog");
  modal(dialog);
  expect(dialog.open).toBe(true);
  dialog.close();
  expect(document.querySelector("dialog")).toBeNull();
});

test("a refusal that htmx got is said in its own words, and never as HTML", () => {
  const xhr = {
    status: 409,
    responseText: "<b>Somebody</b> else was faster.",
    getResponseHeader: () => "text/plain; charset=utf-8",
  };
  document.dispatchEvent(new CustomEvent("htmx:responseError", { detail: { xhr } }));
  expect(found("#toasts").textContent).toContain("<b>Somebody</b> else was faster.");
  expect(document.querySelector("#toasts b")).toBeNull();
});

test("a server that is away is said once and not at every poll", () => {
  document.dispatchEvent(new CustomEvent("htmx:afterOnLoad"));
  for (let poll = 0; poll < 5; poll += 1) {
    document.dispatchEvent(new CustomEvent("htmx:sendError"));
  }
  expect(found("#toasts").children.length).toBe(1);
  expect(found("#toasts").textContent).toContain("cannot be reached");
});

test("j and k walk the rows and stop at the ends", () => {
  document.body.innerHTML = `<div id="list"><a class="row-link" href="/1">1</a>
    <a class="row-link" href="/2">2</a></div><input>`;
  for (const link of document.querySelectorAll("a")) link.scrollIntoView = () => {};
  rowKeys(found("#list"));
  press("j");
  expect(document.activeElement?.textContent).toBe("1");
  press("j");
  press("j");
  expect(document.activeElement?.textContent).toBe("2");
  press("k");
  expect(document.activeElement?.textContent).toBe("1");
});

test("letters that somebody types are letters", () => {
  document.body.innerHTML = `<div id="list"><a class="row-link" href="/1">1</a></div><input>`;
  rowKeys(found("#list"));
  const field = found<HTMLInputElement>("input");
  field.focus();
  expect(press("j", {}, field).defaultPrevented).toBe(false);
  expect(document.activeElement).toBe(field);
});

test("g and a letter follow the link that carries it", () => {
  document.body.innerHTML = '<a data-go="r" href="#runs">Runs</a>';
  const followed = vi.fn((event: Event) => event.preventDefault());
  found("a").addEventListener("click", followed);
  listenForGoKeys();
  press("r");
  expect(followed).not.toHaveBeenCalled();
  press("g");
  press("r");
  expect(followed).toHaveBeenCalledTimes(1);
  press("g", { ctrlKey: true });
  press("r");
  expect(followed).toHaveBeenCalledTimes(1);
});

test("the palette shows what holds every word and marks the first", () => {
  document.body.innerHTML = `<dialog><input><ul>
    <li role="option" id="a" data-address="/a">Runs Alpha</li>
    <li role="option" id="b" data-address="/b">Runs Beta</li></ul>
    <p data-nothing hidden></p></dialog>`;
  for (const option of document.querySelectorAll("li")) option.scrollIntoView = () => {};
  const dialog = found<HTMLDialogElement>("dialog");
  palette(dialog);
  press("k", { ctrlKey: true });
  expect(dialog.open).toBe(true);
  const field = found<HTMLInputElement>("input");
  field.value = "beta runs";
  field.dispatchEvent(new Event("input"));
  expect(found("#a").hidden).toBe(true);
  expect(found("#b").getAttribute("aria-selected")).toBe("true");
  field.value = "nothing";
  field.dispatchEvent(new Event("input"));
  expect(found("[data-nothing]").hidden).toBe(false);
});

test("a copy button copies the text and says so", async () => {
  document.body.innerHTML =
    '<code id="key">tw_secret</code><button data-copy="#key"><span data-label>Copy</span></button>';
  const writeText = vi.fn(async () => {});
  Object.defineProperty(navigator, "clipboard", { value: { writeText }, configurable: true });
  copyButton(found("button"));
  found("button").click();
  await Promise.resolve();
  await Promise.resolve();
  expect(writeText).toHaveBeenCalledWith("tw_secret");
  expect(found("[data-label]").textContent).toBe("Copied");
});

test("a search leaves out what was not chosen", () => {
  tidyAddresses();
  const formData = new FormData();
  formData.append("q", "parcel");
  formData.append("split", "");
  document.dispatchEvent(
    new CustomEvent("htmx:configRequest", { detail: { verb: "get", formData } }),
  );
  expect([...formData.keys()]).toEqual(["q"]);
  const sent = new FormData();
  sent.append("text", "");
  document.dispatchEvent(
    new CustomEvent("htmx:configRequest", { detail: { verb: "post", formData: sent } }),
  );
  expect([...sent.keys()]).toEqual(["text"]);
});

test("the rail folds, unfolds, and is remembered", () => {
  document.body.innerHTML = '<button aria-expanded="true"></button>';
  const button = found("button");
  railFold(button);
  button.click();
  expect(document.documentElement.dataset.rail).toBe("narrow");
  expect(button.getAttribute("aria-expanded")).toBe("false");
  expect(document.cookie).toContain("rail=narrow");
  button.click();
  expect(document.documentElement.dataset.rail).toBeUndefined();
  expect(document.cookie).toContain("rail=wide");
});

test("the sheet of keys opens, except where a page has its own", () => {
  document.body.innerHTML = "<dialog></dialog>";
  const dialog = found<HTMLDialogElement>("dialog");
  keySheet(dialog);
  document.body.insertAdjacentHTML("beforeend", '<div data-behaviour="task-editor"></div>');
  press("?");
  expect(dialog.open).toBe(false);
  found("[data-behaviour]").remove();
  press("?");
  expect(dialog.open).toBe(true);
});

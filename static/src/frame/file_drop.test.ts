import { beforeEach, expect, test, vi } from "vitest";
import { fileDrop, size } from "./file_drop.ts";

function found<T extends HTMLElement>(selector: string): T {
  const element = document.querySelector<T>(selector);
  if (!element) throw new Error(`${selector} is not there`);
  return element;
}

/** An event that carries files or text, as a drop or a paste does. */
function carrying(kind: string, name: string, files: File[], text = ""): Event {
  const event = new Event(kind, { bubbles: true, cancelable: true });
  const data = { files, types: files.length ? ["Files"] : [], getData: () => text };
  Object.defineProperty(event, name, { value: data });
  return event;
}

const dropped = (...files: File[]) => carrying("drop", "dataTransfer", files);
const pasted = (text: string, ...files: File[]) => carrying("paste", "clipboardData", files, text);
const file = (name: string, content = "abc") => new File([content], name);

class HeldFiles {
  files: File[] = [];
  items = { add: (added: File) => this.files.push(added) };
}

let held: File[] = [];
let form: HTMLFormElement;

beforeEach(() => {
  vi.stubGlobal("DataTransfer", HeldFiles);
  document.body.innerHTML = `<div id="toasts"></div><form id="form">
    <strong data-drop-name>Drop a file here</strong><span data-drop-size>CSV</span>
    <input type="file"><button type="button" data-drop-clear hidden>Take it away</button>
    <textarea></textarea>
    <div data-upload hidden><progress max="1" value="0"></progress><span data-upload-words></span></div>
    <button type="submit">Preview</button></form><input id="other">`;
  form = found<HTMLFormElement>("#form");
  held = [];
  Object.defineProperty(found("input[type=file]"), "files", {
    get: () => held,
    set: (files: File[]) => {
      held = files;
    },
  });
  fileDrop(form);
});

test("a size is said as people say it", () => {
  expect([0, 999, 1000, 12_345, 999_999, 5_000_000, 3_200_000_000].map(size)).toEqual([
    "0 bytes",
    "999 bytes",
    "1.0 KB",
    "12.3 KB",
    "1000 KB",
    "5.0 MB",
    "3.2 GB",
  ]);
});

test("a file dropped anywhere on the page is held and named", () => {
  const event = dropped(file("rows.jsonl"));
  document.body.dispatchEvent(event);
  expect(event.defaultPrevented).toBe(true);
  expect(held.map((each) => each.name)).toEqual(["rows.jsonl"]);
  expect(found("[data-drop-name]").textContent).toBe("rows.jsonl");
  expect(found("[data-drop-size]").textContent).toBe("3 bytes");
  expect(found("[data-drop-clear]").hidden).toBe(false);
  expect(document.activeElement).toBe(found("button[type=submit]"));
});

test("of several files the first is taken, and that is said", () => {
  document.body.dispatchEvent(dropped(file("a.csv"), file("b.csv")));
  expect(held.map((each) => each.name)).toEqual(["a.csv"]);
  expect(found("#toasts").textContent).toContain("One file at a time");
});

test("a dragged text is nobody's business here", () => {
  const event = carrying("dragover", "dataTransfer", []);
  document.body.dispatchEvent(event);
  expect(event.defaultPrevented).toBe(false);
  expect(form.classList.contains("is-dropping")).toBe(false);
});

test("the zone shows that a file hangs over the page", () => {
  document.body.dispatchEvent(carrying("dragover", "dataTransfer", [file("a.csv")]));
  expect(form.classList.contains("is-dropping")).toBe(true);
  document.body.dispatchEvent(new Event("dragleave", { bubbles: true }));
  expect(form.classList.contains("is-dropping")).toBe(false);
});

test("a text pasted anywhere becomes the text of the form", () => {
  document.body.dispatchEvent(pasted("User: hi"));
  expect(found<HTMLTextAreaElement>("textarea").value).toBe("User: hi");
  expect(document.activeElement).toBe(found("textarea"));
});

test("a paste into a field stays there, unless it is a file", () => {
  found("#other").dispatchEvent(pasted("train"));
  expect(found<HTMLTextAreaElement>("textarea").value).toBe("");
  found("#other").dispatchEvent(pasted("", file("shot.csv")));
  expect(held.map((each) => each.name)).toEqual(["shot.csv"]);
});

test("a form that has left the page takes nothing any more", () => {
  form.remove();
  document.body.dispatchEvent(dropped(file("rows.jsonl")));
  expect(held).toEqual([]);
});

test("Ctrl Enter sends the form", () => {
  const sent = vi.fn();
  form.requestSubmit = sent;
  const press = (options: KeyboardEventInit) =>
    found("textarea").dispatchEvent(
      new KeyboardEvent("keydown", { key: "Enter", bubbles: true, ...options }),
    );
  press({});
  expect(sent).not.toHaveBeenCalled();
  press({ ctrlKey: true });
  press({ metaKey: true });
  expect(sent).toHaveBeenCalledTimes(2);
});

test("while it is sent it says how far it is", () => {
  const progress = (loaded: number, total: number) =>
    form.dispatchEvent(new CustomEvent("htmx:xhr:progress", { detail: { loaded, total } }));
  progress(5, 0);
  expect(found("[data-upload]").hidden).toBe(true);
  progress(256, 1000);
  expect(found("[data-upload]").hidden).toBe(false);
  expect(found<HTMLProgressElement>("progress").value).toBeCloseTo(0.256);
  expect(found("[data-upload-words]").textContent).toBe("Sending, 25 %");
  progress(1000, 1000);
  expect(found("[data-upload-words]").textContent).toBe("Reading it");
});

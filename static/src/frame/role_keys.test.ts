import { beforeEach, expect, test, vi } from "vitest";
import { nextRole, roleKeys } from "./role_keys.ts";

const { ajax } = vi.hoisted(() => ({ ajax: vi.fn() }));
// htmx itself wants more of a browser than there is here.
vi.mock("htmx.org", () => ({ default: { ajax } }));

function found<T extends HTMLElement>(selector: string): T {
  const element = document.querySelector<T>(selector);
  if (!element) throw new Error(`${selector} is not there`);
  return element;
}

function press(key: string, options: KeyboardEventInit = {}): KeyboardEvent {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...options });
  (document.activeElement ?? document.body).dispatchEvent(event);
  return event;
}

const turn = (index: number, role: string, speaker: string) => `
  <div data-turn="#4:${index}" data-role="${role}" ${speaker && `data-speaker="${speaker}"`}
    tabindex="${index === 0 ? 0 : -1}">
    <select data-role-choice><option>system<option selected>${role}</select>
    <button type="button" data-all-of-speaker>all turns</button></div>`;

const sent: Record<string, string>[] = [];

beforeEach(() => {
  sent.length = 0;
  ajax.mockImplementation((verb, path, { values }) => {
    const { csrfmiddlewaretoken, ...rest } = values;
    expect([verb, path, csrfmiddlewaretoken]).toEqual(["post", "/change/?row=4", "token"]);
    sent.push(rest);
  });
  document.body.innerHTML = `<button data-key-accept>Import 1 task</button>
    <div id="columns" data-change="/change/?row=4">
      <form><input type="hidden" name="csrfmiddlewaretoken" value="token"><textarea></textarea></form>
      <h2 id="row-heading">Row 5</h2>
      <a data-key-before href="#before"></a><a data-key-behind href="#behind"></a>
      <button type="button" data-no-roles>Take all corrections back</button>
      ${turn(0, "user", "Priya")}${turn(1, "assistant", "Joel")}${turn(2, "tool", "")}
    </div>`;
  for (const each of document.querySelectorAll("div, h2")) each.scrollIntoView = vi.fn();
  roleKeys(found("#columns"));
});

function focused(): string | undefined {
  return (document.activeElement as HTMLElement).dataset.turn;
}

test("the roles follow each other in a ring", () => {
  expect(["system", "user", "assistant", "tool"].map(nextRole)).toEqual([
    "user",
    "assistant",
    "tool",
    "system",
  ]);
});

test("j and k go from turn to turn, and one turn is in the tab order", () => {
  press("j");
  press("j");
  press("j");
  press("j");
  expect(focused()).toBe("#4:2");
  press("k");
  expect(focused()).toBe("#4:1");
  const order = [...document.querySelectorAll<HTMLElement>("[data-turn]")].map((e) => e.tabIndex);
  expect(order).toEqual([-1, 0, -1]);
});

test("a digit gives the turn in focus its role, r the next one", () => {
  press("3");
  expect(sent).toEqual([]);
  press("j");
  press("3");
  press("r");
  expect(sent).toEqual([
    { change: "role", turn: "#4:0", role: "assistant" },
    { change: "role", turn: "#4:0", role: "assistant" },
  ]);
});

test("the role that a turn has already is not asked for again", () => {
  press("j");
  press("2");
  press("7");
  expect(sent).toEqual([]);
});

test("R gives all turns of the speaker the next role, and nothing without a speaker", () => {
  press("j");
  press("R", { shiftKey: true });
  expect(sent).toEqual([{ change: "role", speaker: "Priya", role: "assistant" }]);
  press("j");
  press("j");
  expect(press("R", { shiftKey: true }).defaultPrevented).toBe(false);
  expect(sent.length).toBe(1);
});

test("the mouse does the same", () => {
  const choice = found<HTMLSelectElement>("[data-role-choice]");
  choice.value = "system";
  choice.dispatchEvent(new Event("change", { bubbles: true }));
  found("[data-all-of-speaker]").click();
  found("[data-no-roles]").click();
  expect(sent).toEqual([
    { change: "role", turn: "#4:0", role: "system" },
    { change: "role", speaker: "Priya", role: "system" },
    { change: "no-roles" },
  ]);
});

test("brackets follow the links to the rows beside", () => {
  const followed: string[] = [];
  document.addEventListener("click", (event) => {
    const link = (event.target as HTMLElement).closest("a");
    if (link) followed.push(link.hash);
  });
  press("[");
  press("]");
  expect(followed).toEqual(["#before", "#behind"]);
});

test("Ctrl Enter accepts, but in a form it sends that form", () => {
  const accepted = vi.fn();
  found("[data-key-accept]").addEventListener("click", accepted);
  press("Enter", { ctrlKey: true });
  expect(accepted).toHaveBeenCalledTimes(1);
  const form = found<HTMLFormElement>("form");
  form.requestSubmit = vi.fn();
  found("textarea").focus();
  press("Enter", { ctrlKey: true });
  expect(form.requestSubmit).toHaveBeenCalledTimes(1);
  expect(accepted).toHaveBeenCalledTimes(1);
});

test("letters that are typed, and those with a modifier, change nothing", () => {
  found("textarea").focus();
  expect(press("j").defaultPrevented).toBe(false);
  found("textarea").blur();
  press("j");
  press("r", { ctrlKey: true });
  expect(sent).toEqual([]);
});

test("another row is brought into view when it was followed, not when a role changed", () => {
  const heading = found("#row-heading");
  const settle = (boosted: boolean) =>
    document.dispatchEvent(new CustomEvent("htmx:afterSettle", { detail: { boosted } }));
  settle(false);
  expect(heading.scrollIntoView).not.toHaveBeenCalled();
  settle(true);
  expect(heading.scrollIntoView).toHaveBeenCalledTimes(1);
});

test("what has left the page hears nothing any more", () => {
  const first = found("[data-turn]");
  first.focus();
  found("#columns").remove();
  document.body.append(first);
  first.focus();
  press("1");
  expect(sent).toEqual([]);
});

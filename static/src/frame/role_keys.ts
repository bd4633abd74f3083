import htmx from "htmx.org";
import { isPlain, isTyping } from "./typing.ts";

const ROLES = ["system", "user", "assistant", "tool"];

/** The role after this one, from the last to the first again. */
export function nextRole(role: string): string {
  return ROLES[(ROLES.indexOf(role) + 1) % ROLES.length] as string;
}

/**
 * Correcting who says what in a proposed conversation: `1` to `4` give the turn in focus a role,
 * `r` the next one, `R` gives all turns of its speaker the next one; `j` and `k` go from turn to
 * turn, `[` and `]` from row to row. Each correction reads the file again; focus and scroll stay.
 */
export function roleKeys(element: HTMLElement): void {
  const turns = () => [...element.querySelectorAll<HTMLElement>("[data-turn]")];
  const change = (values: Record<string, string>) =>
    void htmx.ajax("post", element.dataset.change as string, {
      source: element,
      target: "#import",
      // Links and keys have their new meaning at once, for whoever types fast.
      swap: "morph settle:0ms",
      values: { change: "role", ...values, csrfmiddlewaretoken: token(element) },
    });
  const give = (turn: HTMLElement, role: string, all = false) => {
    if (role === turn.dataset.role && !all) return;
    const speaker = all ? turn.dataset.speaker : undefined;
    change(speaker ? { speaker, role } : { turn: turn.dataset.turn as string, role });
  };

  element.addEventListener("change", (event) => {
    const choice = event.target as HTMLSelectElement;
    const turn = choice.closest<HTMLElement>("[data-turn]");
    if (turn && choice.matches("[data-role-choice]")) give(turn, choice.value);
  });
  element.addEventListener("click", (event) => {
    const button = (event.target as HTMLElement).closest("button");
    const turn = button?.closest<HTMLElement>("[data-turn]");
    if (turn && button?.matches("[data-all-of-speaker]")) {
      give(turn, turn.querySelector("select")?.value as string, true);
    } else if (button?.matches("[data-no-roles]")) {
      change({ change: "no-roles" });
    }
  });

  const heard = (event: KeyboardEvent) => {
    if (!element.isConnected) {
      document.removeEventListener("keydown", heard);
      return;
    }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      accept(event);
      return;
    }
    if (isTyping(event) || !isPlain(event)) return;
    const all = turns();
    const here = (document.activeElement as HTMLElement | null)?.closest<HTMLElement>(
      "[data-turn]",
    );
    if (event.key === "j" || event.key === "k") {
      const at = here ? all.indexOf(here) : -1;
      const next = all[Math.max(0, Math.min(all.length - 1, at + (event.key === "j" ? 1 : -1)))];
      focusOn(all, next);
    } else if (event.key === "[" || event.key === "]") {
      const which = event.key === "[" ? "[data-key-before]" : "[data-key-behind]";
      element.querySelector<HTMLAnchorElement>(which)?.click();
    } else if (here && /^[1-4]$/.test(event.key)) {
      give(here, ROLES[Number(event.key) - 1] as string);
    } else if (here && event.key === "r") {
      give(here, nextRole(here.dataset.role as string));
    } else if (here?.dataset.speaker && event.key === "R") {
      give(here, nextRole(here.dataset.role as string), true);
    } else {
      return;
    }
    event.preventDefault();
  };
  document.addEventListener("keydown", heard);
  const settled = (event: Event) => {
    if (!element.isConnected) document.removeEventListener("htmx:afterSettle", settled);
    else if ((event as CustomEvent<{ boosted?: boolean }>).detail.boosted) showRow(element);
  };
  document.addEventListener("htmx:afterSettle", settled);
}

/** Send what is being written, else accept the proposal. */
function accept(event: KeyboardEvent): void {
  const form = isTyping(event) ? (event.target as HTMLElement).closest("form") : null;
  if (form) form.requestSubmit();
  else document.querySelector<HTMLButtonElement>("[data-key-accept]")?.click();
  event.preventDefault();
}

/** Another row was opened: its beginning is in view, and its line in the ledger if that stays beside. */
function showRow(element: HTMLElement): void {
  element.querySelector("#row-heading")?.scrollIntoView({ block: "nearest" });
  const ledger = element.querySelector(".import__ledger");
  if (ledger && getComputedStyle(ledger).position === "sticky") {
    ledger.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }
}

/** One turn is in the tab order, the one that had the focus last. */
function focusOn(turns: HTMLElement[], turn: HTMLElement | undefined): void {
  if (!turn) return;
  for (const each of turns) each.tabIndex = each === turn ? 0 : -1;
  turn.focus({ preventScroll: true });
  turn.scrollIntoView({ block: "nearest" });
}

function token(element: HTMLElement): string {
  return element.querySelector<HTMLInputElement>("[name=csrfmiddlewaretoken]")?.value ?? "";
}

import type { Drafts } from "./draft.ts";
import type { Target } from "./place.ts";

/** What the editor needs from the page around it. */
export interface Surroundings {
  /** Draw the page again; with a target, put the focus there afterwards. */
  draw(focus?: Target): void;
  /** Tell the person, also by voice; the newest words about a thing take the place of the last. */
  announce(text: string, tone: "ok" | "danger", about?: "save" | "merge"): void;
  /** Take away what was said about it. */
  unsay(about: "save" | "merge"): void;
  drafts(person: string, address: string): Drafts;
  now(): number;
  /** Run after a pause in which nothing else was asked for under the same name. */
  later(name: string, milliseconds: number, run: () => void): void;
  /** The task is called `title` from now on, and lives at `address` if that is new. */
  renamed(title: string, address?: string): void;
}

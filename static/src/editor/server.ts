/** What the editor asks of the server, and every way in which an answer may fail to come. */

import type { Status, TaskDocument } from "./document.ts";
import type { SaidProblem, Tokens } from "./lens.ts";
import type { JsonText } from "./model.ts";
import { readContent, writeContent } from "./wire.ts";

/** What the page hands to the editor. */
export interface Handed {
  readonly environment: string;
  readonly person: string;
  readonly may_edit: boolean;
  readonly splits: readonly string[];
  readonly tools: readonly string[];
  readonly formats: readonly string[];
  readonly save: string;
  readonly preview: string;
  /** Empty for a task that was never saved. */
  readonly history: string;
  readonly document: HandedDocument;
}

export interface HandedDocument {
  readonly number: number;
  readonly content: JsonText;
  readonly key: string;
  readonly split: string;
  readonly status: Status;
}

export interface Saved {
  readonly kind: "saved";
  readonly number: number;
  readonly key: string;
  readonly split: string;
  readonly status: Status;
  readonly tags: readonly string[];
  /** The formats in which harnesses cannot be served what was saved as ready. */
  readonly unserved?: readonly string[];
  /** Where a new task lives from now on. */
  readonly addresses?: { readonly page: string; readonly save: string; readonly history: string };
}

export interface Stale {
  readonly kind: "stale";
  readonly message: string;
  readonly current: HandedDocument & { author: string; message: string; saved_at: string };
  readonly base: { number: number; content: JsonText };
}

export interface Refused {
  readonly kind: "refused";
  readonly message: string;
  /** Like `messages[2].blocks[0].text`; empty if the answer names none. */
  readonly place: string;
}

export interface Previewed {
  readonly kind: "previewed";
  readonly problems: readonly SaidProblem[];
  /** What each provider would refuse. */
  readonly lens?: Readonly<Record<string, readonly SaidProblem[]>>;
  readonly tokens?: Tokens;
  readonly payloads: Readonly<Record<string, Payload>>;
}

export type Payload = { json: string } | { place: string; message: string };

export function documentOf(handed: HandedDocument): TaskDocument {
  const { key, split, status } = handed;
  return { ...readContent(handed.content), key, split, status };
}

export async function save(
  address: string,
  base: number,
  document: TaskDocument,
  message: string,
): Promise<Saved | Stale | Refused> {
  const { key, split, status } = document;
  const facts = JSON.stringify({ base, key, split, status, message });
  // The content is spliced in as text: its numbers must not pass through JavaScript.
  const body = `${facts.slice(0, -1)},"content":${writeContent(document)}}`;
  const answer = await post(address, body);
  if ("refused" in answer) return answer.refused;
  if (answer.ok) return { ...(answer.value as Omit<Saved, "kind">), kind: "saved" };
  const value = answer.value as Partial<Stale>;
  if (answer.status === 409 && value.current) return { ...(value as Stale), kind: "stale" };
  return refusal(answer.value);
}

export async function preview(
  address: string,
  document: TaskDocument,
  formats: readonly string[],
): Promise<Previewed | Refused> {
  const body = `{"formats":${JSON.stringify(formats)},"content":${writeContent(document)}}`;
  const answer = await post(address, body);
  if ("refused" in answer) return answer.refused;
  if (!answer.ok) return refusal(answer.value);
  return { ...(answer.value as Omit<Previewed, "kind">), kind: "previewed" };
}

type Answer = { ok: boolean; status: number; value: unknown } | { refused: Refused };

async function post(address: string, body: string): Promise<Answer> {
  let response: Response;
  try {
    response = await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
      body,
      redirect: "manual",
    });
  } catch {
    return failed("The server cannot be reached. Your changes are kept here; try again.");
  }
  if (response.type === "opaqueredirect") {
    return failed("You are signed out. Sign in in another tab, then save again here.");
  }
  if (response.headers.get("Content-Type")?.includes("json")) {
    return { ok: response.ok, status: response.status, value: await response.json() };
  }
  return failed(WITHOUT_JSON[response.status] ?? `The server answered ${response.status}.`);
}

const WITHOUT_JSON: Readonly<Record<number, string>> = {
  400: "The request was malformed or too large; nothing was saved.",
  403: "You may not save here, or this page was open for too long. Reload it; a draft is kept.",
  413: "This conversation is too large to be sent.",
};

function failed(message: string): { refused: Refused } {
  return { refused: { kind: "refused", message, place: "" } };
}

function refusal(value: unknown): Refused {
  const { message, place } = value as Partial<Refused>;
  return { kind: "refused", message: message ?? "This could not be accepted.", place: place ?? "" };
}

/** The cookie is newer than the page after somebody signed in again in another tab. */
function csrfToken(): string {
  const cookie = /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1];
  if (cookie) return cookie;
  const headers = document.body.getAttribute("hx-headers") ?? "{}";
  return (JSON.parse(headers) as Record<string, string>)["X-CSRFToken"] ?? "";
}

/** The server's places and faults as a person says them: “Turn 3, tool call: the name must not …”. */

import { type Conversation, findBlock, indexOfTurn } from "./model.ts";
import { type Target, targetOf } from "./place.ts";
import { NAMES } from "./problems.ts";

const FIELDS: Readonly<Record<string, string>> = {
  data: "picture",
  mimeType: "kind of the picture",
  tool_call_id: "call that it answers",
  is_error: "error mark",
  blocks: "list of blocks",
};

/** How the server's words begin when their subject is the field that the place names. */
const WITHOUT_SUBJECT = /^(must|is|are|has|holds|cannot|needs) /;
const PLACES = /\bmessages(?:\[\d+\](?:\.\w+|\[\d+\])*)?(?=: )/g;

/** A whole sentence that names the field, for beside the place itself. */
export function sentenceAt({ field }: Pick<Target, "field">, message: string): string {
  const open = field !== null && WITHOUT_SUBJECT.test(message);
  return sentenceOf(open ? `the ${FIELDS[field] ?? field} ${message}` : message);
}

/** A whole sentence that says also where: for a message that stands away from its place. */
export function sentenceFrom(target: Target, message: string, turns: Conversation): string {
  const named = message.replace(PLACES, (place, at: number) => {
    const words = whereIs(targetOf(place, turns), turns);
    return /[.!?] $/.test(message.slice(0, at)) ? sentenceStart(words) : words;
  });
  if (named !== message && !WITHOUT_SUBJECT.test(message)) return sentenceOf(named);
  if (/^line \d/i.test(named)) {
    const field = target.field === null ? "" : `${FIELDS[target.field] ?? target.field}, `;
    const spot = target.turn === null ? "" : `${whereIs(target, turns)}, `;
    return sentenceOf(`${spot}${field}${lowered(named)}`);
  }
  if (target.turn === null) return sentenceAt(target, named);
  return sentenceOf(`${whereIs(target, turns)}: ${lowered(sentenceAt(target, named))}`);
}

/** `turn 3, tool call`; a block that a result holds is named with it. */
export function whereIs({ turn, block }: Target, turns: Conversation): string {
  if (turn === null) return "the conversation";
  const place = `turn ${indexOfTurn(turns, turn) + 1}`;
  const found = block === null ? null : findBlock(turns, block);
  if (!found) return place;
  const name = NAMES[found.block.type];
  return `${place}, ${found.result ? `${name} of the tool result` : name}`;
}

/** The server's words begin in lower case, after the place that is not shown here. */
export function sentenceOf(message: string): string {
  const sentence = sentenceStart(message);
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}

function sentenceStart(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A sentence to go on with after a colon. */
function lowered(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

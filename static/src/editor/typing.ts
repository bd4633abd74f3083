/**
 * What a text area changed, applied to the text it stands for.
 *
 * A text area knows one line break only: it shows CR LF and a lone CR as LF, and gives LF back. A
 * conversation may hold the others, and typing in one line must not rewrite the rest of them.
 */

/** The text as a text area shows it. */
export function shownInArea(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** `text` with the change between what an area showed for it and what it shows now. */
export function withTyped(text: string, shown: string): string {
  if (!text.includes("\r")) return shown;
  const before = shownInArea(text);
  const prefix = commonPrefix(before, shown);
  const suffix = commonSuffix(before, shown, prefix);
  const places = placesInText(text);
  const start = places[prefix] ?? text.length;
  const end = places[before.length - suffix] ?? text.length;
  const typed = text.slice(0, start) + shown.slice(prefix, shown.length - suffix) + text.slice(end);
  // A line feed typed right after a kept CR would melt into one break with it.
  return shownInArea(typed) === shown ? typed : shown;
}

/** For each character of the shown text, and its end, the position in the text it came from. */
function placesInText(text: string): number[] {
  const places: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    places.push(at);
    if (text[at] === "\r" && text[at + 1] === "\n") at += 1;
  }
  places.push(text.length);
  return places;
}

function commonPrefix(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one[at] === other[at]) at += 1;
  return at;
}

function commonSuffix(one: string, other: string, prefix: number): number {
  const most = Math.min(one.length, other.length) - prefix;
  let count = 0;
  while (count < most && one[one.length - 1 - count] === other[other.length - 1 - count])
    count += 1;
  return count;
}

/** Text areas as tall as their text, in browsers that do not know `field-sizing: content`. */

const KNOWN = typeof CSS !== "undefined" && CSS.supports("field-sizing", "content");

const grown = new WeakMap<HTMLTextAreaElement, string>();

export function growWhereNeeded(root: HTMLElement): void {
  if (KNOWN) return;
  const changed = [...root.querySelectorAll<HTMLTextAreaElement>("textarea.area")].filter(
    (area) => grown.get(area) !== area.value,
  );
  // First every reset, then every measure, then every set: the page is laid out once.
  for (const area of changed) area.style.height = "auto";
  const heights = changed.map((area) => area.scrollHeight);
  for (const [index, area] of changed.entries()) {
    area.style.height = `${heights[index]}px`;
    grown.set(area, area.value);
  }
}

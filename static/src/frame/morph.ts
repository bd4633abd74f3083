import type htmxType from "htmx.org";
import { Idiomorph } from "idiomorph";

/** `hx-swap="morph"`: change only what differs, so that focus, scroll and selection stay. */
export function registerMorph(htmx: typeof htmxType): void {
  htmx.defineExtension("morph", {
    isInlineSwap: (style: string) => style === "morph" || style === "morph:outerHTML",
    handleSwap: (style: string, target: Node, fragment: Node) => {
      if (!style.startsWith("morph")) return false;
      const morphStyle = style === "morph:innerHTML" ? "innerHTML" : "outerHTML";
      const content = (fragment as DocumentFragment).children;
      return Idiomorph.morph(target as Element, content, {
        morphStyle,
        ignoreActiveValue: true,
      }) as Node[];
    },
  });
}

import { remember } from "./remembering.ts";

/** Folds the rail down to its icons, and remembers it for the next page. */
export function railFold(element: HTMLElement): void {
  element.addEventListener("click", () => {
    const { dataset } = document.documentElement;
    const narrow = dataset.rail !== "narrow";
    if (narrow) dataset.rail = "narrow";
    else delete dataset.rail;
    element.setAttribute("aria-expanded", String(!narrow));
    remember("rail", narrow ? "narrow" : "wide");
  });
}

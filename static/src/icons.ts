const SVG = "http://www.w3.org/2000/svg";

/** An icon of the sprite, for elements that a module makes. The name must be written literally. */
export function icon(name: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  const sprite = document.querySelector<HTMLMetaElement>('meta[name="icons"]')?.content ?? "";
  use.setAttribute("href", `${sprite}#${name}`);
  svg.append(use);
  return svg;
}

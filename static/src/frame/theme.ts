import { remember } from "./remembering.ts";

export type Theme = "light" | "dark";

/** The theme on screen: the one chosen, else what the system asks for. */
export function currentTheme(): Theme {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function setTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
  remember("theme", theme);
}

export function themeSwitch(element: HTMLElement): void {
  const show = () => element.setAttribute("aria-pressed", String(currentTheme() === "dark"));
  element.addEventListener("click", () => {
    setTheme(currentTheme() === "dark" ? "light" : "dark");
    show();
  });
  show();
}

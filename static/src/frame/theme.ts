const YEAR = 365 * 24 * 3600;

export type Theme = "light" | "dark";

/** The theme on screen: the one chosen, else what the system asks for. */
export function currentTheme(): Theme {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Remembered in a cookie, so that the server draws the next page in it from the first paint. */
export function setTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
  const secure = location.protocol === "https:" ? "; secure" : "";
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in Firefox.
  document.cookie = `theme=${theme}; path=/; max-age=${YEAR}; samesite=lax${secure}`;
}

export function themeSwitch(element: HTMLElement): void {
  const show = () => element.setAttribute("aria-pressed", String(currentTheme() === "dark"));
  element.addEventListener("click", () => {
    setTheme(currentTheme() === "dark" ? "light" : "dark");
    show();
  });
  show();
}

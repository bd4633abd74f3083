const YEAR = 365 * 24 * 3600;

/** Kept in a cookie, so that the server draws the next page with it from the first paint. */
export function remember(name: string, value: string): void {
  const secure = location.protocol === "https:" ? "; secure" : "";
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in Firefox.
  document.cookie = `${name}=${value}; path=/; max-age=${YEAR}; samesite=lax${secure}`;
}

/** @returns what is wrong with the URL of a server behind a path, and the remedy, if it is none */
export function checkBackend(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "https:" && url.username + url.password + url.search + url.hash === "") return undefined;
  return `backend ${text}: give a URL that begins with https, without user, query and fragment`;
}

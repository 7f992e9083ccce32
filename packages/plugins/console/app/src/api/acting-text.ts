/** Name in the storage of the tab. Security: the text is of use only together with the session's cookie, which scripts cannot read. */
const NAME = "acting";

let text = sessionStorage.getItem(NAME) ?? undefined;

/** Whether this tab acts as another user. */
export const isActing = (): boolean => text !== undefined;

/** Sets the user as whom this tab acts, sealed by the server; undefined for the session's own. */
export function setActing(next: string | undefined): void {
  text = next;
  if (next === undefined) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, next);
}

/** Headers of every request of this tab. */
export const actingHeaders = (): Readonly<Record<string, string>> =>
  text === undefined ? {} : { "X-Virtual-Workspaces-Acting": text };

/** The same for a WebSocket, to which a page can add no headers: further subprotocols to offer. */
export const actingProtocols = (): readonly string[] =>
  text === undefined ? [] : [`acting.virtual-workspaces.${text}`];

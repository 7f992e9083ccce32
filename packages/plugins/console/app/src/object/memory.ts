import { effect } from "@preact/signals";
import { session } from "../api/session.ts";

let owner: string | undefined;
const memories = new Set<() => void>();

effect(() => {
  const { value } = session;
  if (value.state !== "signed-in") return;
  // A session that has ended keeps the texts of its user, who may sign in again.
  if (owner !== undefined && owner !== value.user.username) for (const forget of memories) forget();
  owner = value.user.username;
});

/** Has the browser ask the user before the page is closed, while there is text that is not saved. */
export function guard(isUnsaved: () => boolean): void {
  addEventListener("beforeunload", (event) => {
    if (isUnsaved()) event.preventDefault();
  });
}

/** A map that lasts as long as the page, until another user signs in. */
export function memory<K, V>(): Map<K, V> {
  const map = new Map<K, V>();
  memories.add(() => map.clear());
  return map;
}

import type { PublishedEndpoint } from "./options.ts";

/**
 * The entries as they are written: each URL once, sorted by it, so that what means the same is the same.
 *
 * @throws Error on what no follower takes for a URL
 */
export function wantedEntries(given: readonly (string | PublishedEndpoint)[]): PublishedEndpoint[] {
  const entries = new Map<string, PublishedEndpoint>();
  for (const one of given) {
    const entry = typeof one === "string" ? { url: one } : one;
    check(entry.url);
    entries.set(entry.url, entry);
  }
  return [...entries.values()].sort((one, other) => (one.url < other.url ? -1 : 1));
}

function check(text: string): void {
  const url = URL.parse(text);
  const isPlain =
    url !== null && `${url.username}${url.password}${url.search}${url.hash}` === "" && /^https?:$/.test(url.protocol);
  if (!isPlain)
    throw new Error(
      `${JSON.stringify(text.slice(0, 200))} is published as a URL: give one of http or https, without user, query and fragment`,
    );
}

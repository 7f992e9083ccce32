type Texts = Readonly<Record<string, string>> | undefined;

/** What a map of the source becomes when the map that the view shows of it is changed: the same changes, and no others. */
export function carriedOver(source: Texts, before: Texts, after: Texts): Record<string, string> {
  const was = new Map(Object.entries(before ?? {}));
  const is = new Map(Object.entries(after ?? {}));
  const result = new Map(Object.entries(source ?? {}));
  for (const key of was.keys()) if (!is.has(key)) result.delete(key);
  for (const [key, value] of is) if (was.get(key) !== value) result.set(key, value);
  return Object.fromEntries(result);
}

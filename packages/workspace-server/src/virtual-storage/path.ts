/**
 * The path of a resource request without the identity of the resource, `widgets:3f2a`, by which only shards and those who are allowed
 * everything ask. Objects may have a colon in their names.
 */
export function withoutIdentity(
  tail: string,
  { plural, identity }: { readonly plural: string; readonly identity: string },
): string {
  if (identity === "") return tail;
  const segments = tail.split("/");
  const at = segments.findIndex((segment) => decodeURIComponent(segment) === `${plural}:${identity}`);
  return at === -1 ? tail : segments.with(at, plural).join("/");
}

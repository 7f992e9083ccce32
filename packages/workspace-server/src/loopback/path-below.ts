/**
 * What a URL has below another one, without slashes at its end: `/services/x` of `https://host/base/services/x/?y` below
 * `https://host/base/`. By this alone it is known whether a URL that somebody says leads to this server itself.
 *
 * @returns `undefined` for a URL that leads elsewhere
 */
export function pathBelow(url: URL, base: string): string | undefined {
  const [place, root] = [placeOf(url), placeOf(new URL(base))];
  return place.startsWith(`${root}/`) ? place.slice(root.length) : undefined;
}

/** Without slashes at its end. */
export function trimmed(path: string): string {
  return path.replace(/\/+$/, "");
}

function placeOf({ origin, pathname }: URL): string {
  return trimmed(origin + pathname);
}

/** Segment that matches any text. */
const ANY = undefined;

/** Segments of a path prefix. */
export type RoutePath = readonly (string | typeof ANY)[];

const PLACEHOLDER = /^\{[A-Za-z_][A-Za-z0-9_]*\}$/;
const WORD = /^[A-Za-z0-9._~-]+$/;

/** Parses a path such as `/e2e/clusters/{cluster}`. @returns an error with its remedy for an invalid one */
export function parseRoutePath(path: string): RoutePath | string {
  if (!path.startsWith("/")) return "must begin with a slash";
  const segments = path.split("/").slice(1);
  if (segments.at(-1) === "") segments.pop();
  const odd = segments.find((segment) => !WORD.test(segment) && !PLACEHOLDER.test(segment));
  if (odd === "") return "must not have empty segments";
  if (odd !== undefined) return `segment ${odd} must be a word or a {name}`;
  if (segments.some((segment) => /^\.+$/.test(segment))) return "must not have . or .. segments";
  return segments.map((segment) => (PLACEHOLDER.test(segment) ? ANY : segment));
}

/** Returns the index of the segment `{cluster}`, which names the workspace, if there is one. */
export function clusterAt(path: string): number | undefined {
  const at = path.split("/").slice(1).indexOf("{cluster}");
  return at === -1 ? undefined : at;
}

/** Whether a raw path without its query is this one or below it. */
export function isBelow(route: RoutePath, path: string): boolean {
  let at = 0;
  for (const segment of route) {
    if (path[at] !== "/") return false;
    const end = path.indexOf("/", at + 1);
    const text = path.slice(at + 1, end === -1 ? path.length : end);
    if (text === "" || (segment !== ANY && segment !== text)) return false;
    at = end === -1 ? path.length : end;
  }
  return true;
}

/** Whether some path is below both, and the other one, at least as specific, takes it. */
export function overlaps(route: RoutePath, other: RoutePath): boolean {
  if (other.length < route.length) return false;
  return route.every((segment, at) => segment === ANY || other[at] === ANY || segment === other[at]);
}

/** Orders paths, most specific first: more segments, then words before placeholders. */
export function byDetail(a: RoutePath, b: RoutePath): number {
  if (a.length !== b.length) return b.length - a.length;
  const at = a.findIndex((segment, index) => (segment === ANY) !== (b[index] === ANY));
  return at === -1 ? 0 : a[at] === ANY ? 1 : -1;
}

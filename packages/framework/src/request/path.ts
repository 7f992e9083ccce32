import { ApiError, isClusterName, isWorkspacePath, WILDCARD } from "@virtual-workspaces/apimachinery";

/** The parameters named in a path pattern: `"/clusters/:cluster"` gives `{ cluster: string }`. */
export type PathParams<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [K in Name]: string } & PathParams<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? { readonly [K in Name]: string }
    : unknown;

/** What became of a URL. `tail` is the rest of the path, still encoded, with its leading slash ("" when nothing is left). */
export type Match<View> =
  | {
      readonly kind: "match";
      readonly view: View;
      readonly params: Readonly<Record<string, string>>;
      readonly prefix: string;
      readonly tail: string;
      /** Why no view of its own is there: the one that has the rest says who is told. */
      readonly misfit?: ApiError;
    }
  | { readonly kind: "no-match"; readonly error: ApiError }
  | { readonly kind: "bad-request"; readonly error: ApiError };

/** What the matcher must know of a virtual workspace. */
export interface Matchable {
  readonly name: string;
  /** Plain segments that its URLs begin with, `/services` or `/` for all there that nobody else has. @default `/services/<name>` */
  readonly prefix?: string | undefined;
  /** Segments after the prefix: literals, and parameters as `:name`. */
  readonly path: string;
  /** Whether `:cluster` may be `*`, all logical clusters at once. @default false */
  readonly wildcard?: boolean;
  /** Whether `:cluster` may be a workspace path, `root:org:team`: somebody says which logical cluster that is. */
  readonly locates?: boolean;
  /** Whether `/clusters/` and what `:cluster` is, or `*`, may follow, which says nothing new. @default false */
  readonly clusterSuffix?: boolean;
  /** Whether the tail is handed on as it came, so that only what is dangerous everywhere is refused in it. */
  readonly rawTail?: boolean;
}

/** Where virtual workspaces are that say nothing else (kcp's `virtualcommandoptions.DefaultRootPathPrefix`). */
const SERVICES = "/services";

/** What the server itself answers, and where views are by their names. */
const TAKEN: ReadonlySet<string> = new Set([SERVICES.slice(1), "livez", "readyz", "metrics"]);

/** Of the view that has what no other view and nothing of the server's own has. */
const REST = "/";

/** The URL that a view's path follows: `/services/quotes`, "" for the one that has the rest. */
export function prefixOf({ name, prefix }: Pick<Matchable, "name" | "prefix">): string {
  return prefix === REST ? "" : (prefix ?? `${SERVICES}/${name}`);
}

/**
 * Checks a prefix such as `/clusters`, `/services`, or `/`.
 *
 * @throws Error naming what is wrong.
 */
export function checkPrefix(prefix: string): void {
  if (prefix === REST || prefix === SERVICES) return;
  const segments = parsePattern(prefix);
  const shown = `prefix ${JSON.stringify(prefix)}`;
  if (segments.length === 0) throw new Error(`${shown} names no segment: name one, as in /clusters, or / for the rest`);
  const parameter = segments.find((segment) => segment.startsWith(":"));
  if (parameter !== undefined) throw new Error(`${shown}: ${parameter} belongs into the path, which follows it`);
  const [first = ""] = segments;
  if (TAKEN.has(first)) throw new Error(`${shown}: /${first} is the server's own; choose another first segment`);
}

/**
 * Checks a pattern such as `/clusters/:cluster` or `/`.
 *
 * @throws Error naming the segment that is wrong.
 */
export function parsePattern(path: string): readonly string[] {
  if (path === "/" || path === "") return [];
  if (!path.startsWith("/") || path.endsWith("/"))
    throw new Error(`path ${JSON.stringify(path)} must start with a slash and not end with one`);
  const segments = path.slice(1).split("/");
  for (const segment of segments) {
    if (!/^(:[A-Za-z][A-Za-z0-9]*|[A-Za-z0-9][A-Za-z0-9._-]*)$/.test(segment)) {
      throw new Error(
        `path ${JSON.stringify(path)}: segment ${JSON.stringify(segment)} must be a word or a :parameter`,
      );
    }
  }
  if (
    new Set(segments.filter((segment) => segment.startsWith(":"))).size <
    segments.filter((segment) => segment.startsWith(":")).length
  ) {
    throw new Error(`path ${JSON.stringify(path)} names a parameter twice`);
  }
  return segments;
}

/** The one place that turns a URL path into a virtual workspace and its parameters. */
export class PathMatcher<View extends Matchable> {
  readonly #views = new Map<string, Entry<View>>();
  /** Those that are elsewhere than below `/services`. */
  readonly #elsewhere: Entry<View>[] = [];
  /** The one that has what is nobody else's. */
  #rest: Entry<View> | undefined;
  /** The one that has the names below `/services` that are no other view's. */
  #strange: Entry<View> | undefined;

  /** @throws Error on a duplicate name, a malformed pattern or prefix, or prefixes of which one leads into the other. */
  constructor(views: readonly View[]) {
    for (const view of views) {
      if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(view.name))
        throw new Error(
          `virtual workspace name ${JSON.stringify(view.name)} must be lower-case letters, digits and dashes`,
        );
      if (this.#views.has(view.name)) throw new Error(`two virtual workspaces are named ${view.name}`);
      const entry = { view, prefix: prefixOf(view), segments: parsePattern(view.path) };
      this.#views.set(view.name, entry);
      if (view.prefix !== undefined) this.#add(entry, view.prefix);
    }
  }

  #add(entry: Entry<View>, prefix: string): void {
    checkPrefix(prefix);
    const isRest = prefix === REST;
    const isStrange = prefix === SERVICES;
    const other = isRest
      ? this.#rest
      : isStrange
        ? this.#strange
        : this.#elsewhere.find((one) => isBelow(prefix, one.prefix) || isBelow(one.prefix, prefix));
    if (other !== undefined)
      throw new Error(
        `virtual workspaces ${other.view.name} (${other.view.prefix}) and ${entry.view.name} (${prefix}) overlap: ` +
          "give one another prefix",
      );
    if (isRest) this.#rest = entry;
    else if (isStrange) this.#strange = entry;
    else this.#elsewhere.push(entry);
  }

  get views(): readonly View[] {
    return [...this.#views.values()].map(({ view }) => view);
  }

  /**
   * Whether a request target, with its query, is a virtual workspace's to answer, and no other application's: what is the
   * rest to views is an application's first.
   */
  owns(url: string): boolean {
    if (url.startsWith(`${SERVICES}/`)) return true;
    return this.#elsewhere.some(({ prefix }) => isBelow(url, prefix) || url.startsWith(`${prefix}?`));
  }

  /** @param path the path of the request target, without the query, as it came */
  match(path: string): Match<View> {
    const danger = refusedEverywhere(path);
    if (danger !== undefined) return bad(danger);
    if (path !== SERVICES && !path.startsWith(`${SERVICES}/`)) return this.#matchElsewhere(path);
    const end = segmentEnd(path, SERVICES.length + 1);
    const name = path.slice(SERVICES.length + 1, end);
    const entry = this.#views.get(name);
    const isBelowServices = entry !== undefined && entry.view.prefix === undefined;
    if (!isBelowServices && this.#strange !== undefined) return matchSegments(this.#strange, path);
    const found = isBelowServices ? matchSegments(entry, path) : noMatch(this.#whyNot(name));
    return found.kind === "no-match" ? this.#nobodys(path, found) : found;
  }

  /** Is told to whom the view of the rest lets: in kcp, who may do everything. */
  #nobodys(path: string, found: ReturnType<typeof noMatch>): Match<View> {
    if (this.#rest === undefined || this.#rest.segments.length > 0) return found;
    const rest = matchSegments(this.#rest, path);
    return rest.kind === "match" ? { ...rest, misfit: found.error } : rest;
  }

  #whyNot(name: string): string {
    const prefix = this.#views.get(name)?.view.prefix;
    return prefix === undefined
      ? `there is no virtual workspace ${JSON.stringify(name)}; see ${this.#places()}`
      : `virtual workspace ${JSON.stringify(name)} is not below ${SERVICES}; it is at ${prefix}`;
  }

  #matchElsewhere(path: string): Match<View> {
    // There are few: a view at a prefix of its own is a server's exception.
    for (const entry of this.#elsewhere) if (isBelow(path, entry.prefix)) return matchSegments(entry, path);
    if (this.#rest !== undefined) return matchSegments(this.#rest, path);
    return noMatch(`no virtual workspace is served at ${path}; they are below ${this.#places()}`);
  }

  /** Where there are views, for messages. */
  #places(): string {
    const named = this.#views.size > this.#elsewhere.length || this.#elsewhere.length === 0;
    const prefixes = this.#elsewhere.map(({ prefix }) => prefix);
    return [...(named ? [`${SERVICES}/<name>`] : []), ...prefixes].join(", ");
  }
}

/** A view, where it is, and what follows. */
interface Entry<View> {
  readonly view: View;
  readonly prefix: string;
  readonly segments: readonly string[];
}

function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === "/");
}

function matchSegments<View extends Matchable>({ view, prefix, segments }: Entry<View>, path: string): Match<View> {
  const params: Record<string, string> = {};
  let at = prefix.length;
  for (const segment of segments) {
    if (at >= path.length || at + 1 === path.length)
      return noMatch(`${prefix} is followed by ${view.path}; ${segment} is missing in ${path}`);
    const end = segmentEnd(path, at + 1);
    const text = decodeSegment(path.slice(at + 1, end));
    if (text === undefined) return badSegment(path.slice(at + 1, end));
    if (!segment.startsWith(":")) {
      if (text !== segment)
        return noMatch(`${prefix} is followed by ${view.path}, not by ${path.slice(prefix.length)}`);
    } else {
      const problem = segment === ":cluster" ? clusterProblem(text, view) : undefined;
      if (problem !== undefined) return bad(problem);
      params[segment.slice(1)] = text;
    }
    at = end;
  }
  if (view.clusterSuffix === true) {
    const past = pastSuffix(path, at, params["cluster"] ?? "");
    if (typeof past !== "number") return past;
    at = past;
  }
  const tail = path.slice(at);
  if (view.rawTail !== true) {
    const problem = refusedInterpreted(tail);
    if (problem !== undefined) return bad(problem);
  }
  return { kind: "match", view, params, prefix: path.slice(0, at), tail };
}

/** Where a path goes on behind a `/clusters/<cluster>` that repeats what has been said; it may be missing. */
function pastSuffix(path: string, at: number, cluster: string): number | Exclude<Match<never>, { kind: "match" }> {
  const from = at + SUFFIX.length;
  if (!path.startsWith(SUFFIX, at) || from === path.length) return at;
  const end = segmentEnd(path, from);
  const text = decodeSegment(path.slice(from, end));
  if (text === undefined) return badSegment(path.slice(from, end));
  if (text === cluster || text === WILDCARD) return end;
  return noMatch(
    `${path.slice(0, at)} is about ${JSON.stringify(cluster)} alone: ${path.slice(at, end)} leads nowhere`,
  );
}

const SUFFIX = "/clusters/";

function clusterProblem(text: string, view: Matchable): string | undefined {
  if (text === WILDCARD)
    return view.wildcard === true
      ? undefined
      : `${prefixOf(view)} does not serve all logical clusters at once; name one instead of *`;
  if (view.locates === true)
    return isWorkspacePath(text) ? undefined : `invalid cluster: ${JSON.stringify(text)} does not match the regex`; // kcp's words
  return isClusterName(text) ? undefined : `${JSON.stringify(text)} is not a logical cluster name`;
}

/**
 * A dot segment, plain or encoded, between whatever some reader may take for a separator: slashes and backslashes, plain
 * or encoded, and the semicolon that sets parameters of a segment apart.
 */
const DOT_SEGMENT = /(?:[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:$|[/\\;]|%2f|%5c|%3b)/i;

/**
 * Dot segments, plain or encoded, NUL, and what URL parsers drop: a proxy or file system behind us might read them
 * otherwise than we do.
 */
function refusedEverywhere(path: string): string | undefined {
  if (!path.startsWith("/")) return "the path must start with a slash";
  if (path.includes("\0") || /%00/.test(path)) return "the path must not contain NUL";
  if (/[\t\n\r]/.test(path)) return "the path must not contain tabs or line breaks";
  // The searches are quick, and most paths have nothing of the kind.
  const isSuspect = path.includes("/.") || path.includes("%") || path.includes("\\");
  return isSuspect && DOT_SEGMENT.test(path) ? "the path must not contain . or .. segments, encoded or not" : undefined;
}

/** For what turns out to be ours to read, of a view that passes other tails on byte for byte. @throws ApiError 400 */
export function checkInterpreted(tail: string): void {
  const problem = refusedInterpreted(tail);
  if (problem !== undefined) throw ApiError.badRequest(problem);
}

/** What must not be in a part that we read ourselves. One trailing slash is fine. */
function refusedInterpreted(path: string): string | undefined {
  if (path.includes("//")) return "the path must not contain empty segments";
  if (/^[\x21-\x24\x26-\x5b\x5d-\x7e]*$/.test(path)) return undefined; // nothing encoded, nothing that ought to be
  const isPlain = path.split("/").every((segment) => segment === "" || decodeSegment(segment) !== undefined);
  return isPlain
    ? undefined
    : "the path must not contain encoded slashes, backslashes, double encodings or bytes that are no encoded UTF-8";
}

/**
 * A decoded segment; `undefined` when it is empty, has bytes that ought to be encoded, or something that another reader
 * might decode again or split at: browsers take a backslash for a slash.
 */
export function decodeSegment(text: string): string | undefined {
  if (!/^[\x21-\x5b\x5d-\x7e]+$/.test(text)) return undefined;
  if (!text.includes("%")) return text;
  try {
    const decoded = decodeURIComponent(text);
    return /[/\\\0]|%[0-9a-f]{2}/i.test(decoded) ? undefined : decoded;
  } catch {
    return undefined;
  }
}

function segmentEnd(path: string, from: number): number {
  const end = path.indexOf("/", from);
  return end === -1 ? path.length : end;
}

function badSegment(segment: string): ReturnType<typeof bad> {
  return bad(
    `path segment ${JSON.stringify(segment)} is empty, or has an encoded slash, a backslash, a double encoding or bytes that are no encoded UTF-8`,
  );
}

function bad(message: string): { kind: "bad-request"; error: ApiError } {
  return { kind: "bad-request", error: ApiError.badRequest(message) };
}

function noMatch(message: string): { kind: "no-match"; error: ApiError } {
  return { kind: "no-match", error: ApiError.notFoundPath(message) };
}

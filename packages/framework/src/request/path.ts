import { ApiError, isClusterName, isWorkspacePath, WILDCARD } from "@virtual-workspaces/apimachinery";

/** Parameters of a path pattern: `"/clusters/:cluster"` gives `{ cluster: string }`. */
export type PathParams<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [K in Name]: string } & PathParams<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? { readonly [K in Name]: string }
    : unknown;

/**
 * Result of matching a URL. `tail` is the rest of the path, still encoded, with its leading slash ("" when nothing is left).
 */
export type Match<View> =
  | {
      readonly kind: "match";
      readonly view: View;
      readonly params: Readonly<Record<string, string>>;
      readonly prefix: string;
      readonly tail: string;
      /** Error for a path without a view of its own; the view at `/` decides who sees it. */
      readonly misfit?: ApiError;
    }
  | { readonly kind: "no-match"; readonly error: ApiError }
  | { readonly kind: "bad-request"; readonly error: ApiError };

/** Parts of a virtual workspace that the matcher uses. */
export interface Matchable {
  readonly name: string;
  /**
   * Plain segments that its URLs begin with; `/services` or `/` for the paths there that no other view has.
   * @default `/services/<name>`
   */
  readonly prefix?: string | undefined;
  /** Segments after the prefix: literals, and parameters as `:name`. */
  readonly path: string;
  /** Whether `:cluster` may be `*`, all logical clusters at once. @default false */
  readonly wildcard?: boolean;
  /** Whether `:cluster` may be a workspace path, `root:org:team`, which a hook resolves. */
  readonly locates?: boolean;
  /** Whether `/clusters/` and the value of `:cluster`, or `*`, may follow. @default false */
  readonly clusterSuffix?: boolean;
  /** Whether the tail is forwarded unchanged, so that only paths dangerous everywhere are rejected. */
  readonly rawTail?: boolean;
}

/** Default prefix of virtual workspaces (kcp's `virtualcommandoptions.DefaultRootPathPrefix`). */
const SERVICES = "/services";

/** First segments of the server itself, and of views by name. */
const TAKEN: ReadonlySet<string> = new Set([SERVICES.slice(1), "livez", "readyz", "metrics", "statusz", "flagz"]);

/** Prefix of the view for all other paths. */
const REST = "/";

/** Returns the URL before a view's path: `/services/quotes`, "" for the view at `/`. */
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
  const shown = `invalid prefix ${JSON.stringify(prefix)}`;
  if (segments.length === 0) throw new Error(`${shown}: add a segment, as in /clusters, or use / for the rest`);
  const parameter = segments.find((segment) => segment.startsWith(":"));
  if (parameter !== undefined) throw new Error(`${shown}: move ${parameter} to the path, which follows it`);
  const [first = ""] = segments;
  if (TAKEN.has(first)) throw new Error(`${shown}: /${first} belongs to the server; choose another first segment`);
}

/**
 * Checks a pattern such as `/clusters/:cluster` or `/`.
 *
 * @throws Error naming the segment that is wrong.
 */
export function parsePattern(path: string): readonly string[] {
  if (path === "/" || path === "") return [];
  if (!path.startsWith("/") || path.endsWith("/"))
    throw new Error(`invalid path ${JSON.stringify(path)}: start it with a slash and do not end it with one`);
  const segments = path.slice(1).split("/");
  for (const segment of segments) {
    if (!/^(:[A-Za-z][A-Za-z0-9]*|[A-Za-z0-9][A-Za-z0-9._-]*)$/.test(segment)) {
      throw new Error(
        `invalid path ${JSON.stringify(path)}: segment ${JSON.stringify(segment)} must be a word or a :parameter`,
      );
    }
  }
  if (
    new Set(segments.filter((segment) => segment.startsWith(":"))).size <
    segments.filter((segment) => segment.startsWith(":")).length
  ) {
    throw new Error(`invalid path ${JSON.stringify(path)}: name each parameter once`);
  }
  return segments;
}

/** Maps URL paths to virtual workspaces and their parameters; nothing else does. */
export class PathMatcher<View extends Matchable> {
  readonly #views = new Map<string, Entry<View>>();
  /** Views with prefixes outside `/services`. */
  readonly #elsewhere: Entry<View>[] = [];
  /** View for paths that no other view serves. */
  #rest: Entry<View> | undefined;
  /** View for names below `/services` that no other view has. */
  #strange: Entry<View> | undefined;

  /** @throws Error on a duplicate name, a malformed pattern or prefix, or overlapping prefixes. */
  constructor(views: readonly View[]) {
    for (const view of views) {
      if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(view.name))
        throw new Error(
          `invalid virtual workspace name ${JSON.stringify(view.name)}: use lower-case letters, digits and dashes`,
        );
      if (this.#views.has(view.name))
        throw new Error(`duplicate virtual workspace name ${view.name}: use unique names`);
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
   * Whether a virtual workspace answers a request target (with its query) rather than an application. An application comes
   * before a view at `/`.
   */
  owns(url: string): boolean {
    if (url.startsWith(`${SERVICES}/`)) return true;
    return this.#elsewhere.some(({ prefix }) => isBelow(url, prefix) || url.startsWith(`${prefix}?`));
  }

  /** @param path path of the request target, without the query, as received */
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

  /** Returns the error for a path without a view, for callers that the view at `/` allows: in kcp, administrators. */
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
    // Few views have a prefix of their own.
    for (const entry of this.#elsewhere) if (isBelow(path, entry.prefix)) return matchSegments(entry, path);
    if (this.#rest !== undefined) return matchSegments(this.#rest, path);
    return noMatch(`no virtual workspace is served at ${path}; they are below ${this.#places()}`);
  }

  /** Lists the prefixes of views, for messages. */
  #places(): string {
    const named = this.#views.size > this.#elsewhere.length || this.#elsewhere.length === 0;
    const prefixes = this.#elsewhere.map(({ prefix }) => prefix);
    return [...(named ? [`${SERVICES}/<name>`] : []), ...prefixes].join(", ");
  }
}

/** A view, its prefix and its path. */
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

/** Returns where a path continues after an optional `/clusters/<cluster>` that repeats the cluster. */
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
  if (isClusterName(text)) return undefined;
  return isWorkspacePath(text)
    ? `${JSON.stringify(text)} is a workspace path: use the name of its logical cluster, spec.cluster of the Workspace`
    : `${JSON.stringify(text)} is not a logical cluster name`;
}

/**
 * Dot segment, plain or encoded, between separators of any reader: slashes and backslashes, plain or encoded, and the
 * semicolon before path parameters.
 */
const DOT_SEGMENT = /(?:[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:$|[/\\;]|%2f|%5c|%3b)/i;

/**
 * Rejects dot segments, plain or encoded, NUL, and characters that URL parsers drop. Security: an upstream proxy or file
 * system might interpret them differently.
 */
function refusedEverywhere(path: string): string | undefined {
  if (!path.startsWith("/")) return "the path must start with a slash";
  if (path.includes("\0") || /%00/.test(path)) return "the path must not contain NUL";
  if (/[\t\n\r]/.test(path)) return "the path must not contain tabs or line breaks";
  // These searches are fast, and most paths contain none of the three.
  const isSuspect = path.includes("/.") || path.includes("%") || path.includes("\\");
  return isSuspect && DOT_SEGMENT.test(path) ? "the path must not contain . or .. segments, encoded or not" : undefined;
}

/** Checks a tail that the server interprets, of a view that forwards other tails unchanged. @throws ApiError 400 */
export function checkInterpreted(tail: string): void {
  const problem = refusedInterpreted(tail);
  if (problem !== undefined) throw ApiError.badRequest(problem);
}

/** Rejects characters in a part that the server interprets. One trailing slash is fine. */
function refusedInterpreted(path: string): string | undefined {
  if (path.includes("//")) return "the path must not contain empty segments";
  if (/^[\x21-\x24\x26-\x5b\x5d-\x7e]*$/.test(path)) return undefined; // nothing is encoded or needs encoding
  const isPlain = path.split("/").every((segment) => segment === "" || decodeSegment(segment) !== undefined);
  return isPlain
    ? undefined
    : "the path must not contain encoded slashes, backslashes, double encodings or bytes that are no encoded UTF-8";
}

/**
 * Decodes a segment; `undefined` when it is empty, contains bytes that need encoding, or something that another reader might
 * decode again or split at: browsers read a backslash as a slash.
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

import { CelError } from "./formatted.ts";

/** URL as parsed by Go (`kubernetes.URL`). */
export class UrlValue {
  /** Printed form, which determines equality. */
  readonly text: string;
  readonly scheme: string;
  /** Host with the port. */
  readonly host: string;
  readonly escapedPath: string;
  readonly query: ReadonlyMap<string, string[]>;

  constructor(parts: { text: string; scheme: string; host: string; path: string; query: string }) {
    this.text = parts.text;
    this.scheme = parts.scheme;
    this.host = parts.host;
    this.escapedPath = escapedPath(parts.path);
    this.query = parseQuery(parts.query);
  }

  get hostname(): string {
    const bare = this.host.replace(/:\d*$/, "");
    const named = this.host.startsWith("[") ? /^\[(.*)\]/s.exec(this.host)?.[1] : bare;
    return named ?? bare;
  }

  get port(): string {
    return /:(\d*)$/.exec(this.host.replace(/^\[.*\]/s, ""))?.[1] ?? "";
  }
}

/** Parses an absolute URL or path like Go's url.ParseRequestURI. Throws a CelError. */
export function parseUrl(text: string): UrlValue {
  const problem = requestUriProblem(text);
  if (problem !== undefined) {
    throw new CelError(`URL parse error during conversion from string: parse ${JSON.stringify(text)}: ${problem}`);
  }
  const [bare = ""] = text.split("#", 1);
  const { scheme, rest } = splitScheme(bare);
  const at = rest.indexOf("?");
  const path = at < 0 ? rest : rest.slice(0, at);
  const query = at < 0 ? "" : rest.slice(at + 1);
  const printed = scheme === "" ? text : scheme + text.slice(scheme.length);
  if (!path.startsWith("/"))
    return new UrlValue({ text: printed, scheme, host: "", path: path === "*" ? path : "", query });
  const authority = scheme === "" ? undefined : /^\/\/([^/]*)/.exec(path)?.[1];
  const host = unescaped((authority ?? "").replace(/^.*@/s, "")) ?? "";
  return new UrlValue({
    text: printed,
    scheme,
    host,
    path: authority === undefined ? path : path.slice(authority.length + 2),
    query,
  });
}

export function isUrl(text: string): boolean {
  return requestUriProblem(text) === undefined;
}

/** Returns Go's error for a request URL, if there is one. */
export function requestUriProblem(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for.
  if (/[\x00-\x1f\x7f]/.test(text)) return "net/url: invalid control character in URL";
  if (text === "") return "empty url";
  if (text === "*") return undefined;
  if (text.startsWith(":")) return "missing protocol scheme";
  const { scheme, rest } = splitScheme(text);
  const [path = ""] = rest.split("?", 1);
  if (!path.startsWith("/")) return scheme === "" ? "invalid URI for request" : undefined;
  const authority = scheme === "" ? undefined : /^\/\/([^/]*)/.exec(path)?.[1];
  const problem = authority === undefined ? undefined : authorityProblem(authority);
  return problem ?? escapeProblem(authority === undefined ? path : path.slice(authority.length + 2));
}

function splitScheme(text: string): { scheme: string; rest: string } {
  const [whole = "", scheme = ""] = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text) ?? [];
  return { scheme: scheme.toLowerCase(), rest: text.slice(whole.length) };
}

function authorityProblem(authority: string): string | undefined {
  const at = authority.lastIndexOf("@");
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(authority.slice(0, Math.max(0, at)))) {
    return "net/url: invalid userinfo";
  }
  const host = authority.slice(at + 1);
  const bracket = host.lastIndexOf("]");
  if (host.startsWith("[") && bracket < 0) return "missing ']' in host";
  const tail = host.startsWith("[") ? host.slice(bracket + 1) : (/:.*$/s.exec(host)?.[0] ?? "");
  const port = host.startsWith("[") ? tail : tail.slice(tail.lastIndexOf(":"));
  if (!/^(?::\d*)?$/.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
  const bad = /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(host)?.[0];
  if (bad !== undefined) return `invalid character ${JSON.stringify(bad)} in host name`;
  return escapeProblem(host);
}

function escapeProblem(text: string): string | undefined {
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(text)?.[0];
  return bad === undefined ? undefined : `invalid URL escape ${JSON.stringify(bad)}`;
}

function unescaped(text: string): string | undefined {
  if (escapeProblem(text) !== undefined) return undefined;
  if (!text.includes("%")) return text;
  const octets = Buffer.from(text, "utf8")
    .toString("latin1")
    .replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(octets, "latin1").toString("utf8");
}

function escapedPath(raw: string): string {
  if (/^[A-Za-z0-9\-_.~!$&'()*+,;=:@[\]%/]*$/.test(raw)) return raw;
  const bytes = Buffer.from(unescaped(raw) ?? raw, "utf8").toString("latin1");
  return bytes.replace(/[^A-Za-z0-9\-_.~$&+,/:;=@]/g, (char) => {
    return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  });
}

function parseQuery(query: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "" || pair.includes(";")) continue;
    const at = pair.indexOf("=");
    const key = unescaped((at < 0 ? pair : pair.slice(0, at)).replaceAll("+", " "));
    const value = unescaped((at < 0 ? "" : pair.slice(at + 1)).replaceAll("+", " "));
    if (key === undefined || value === undefined) continue;
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  }
  return values;
}

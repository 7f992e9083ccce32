/** Characters: more than servers and proxies take most times, and less than a head may have. */
const LONGEST = 8192;

/** A URL as it is recorded. Nobody here takes a token from a query, but a client may send one all the same. */
export function shownUri(path: string, search: string): string {
  const uri = path.length + search.length > LONGEST ? (path + search).slice(0, LONGEST) : path + search;
  const shown = search !== "" && /token|%/i.test(search) ? withoutTokens(uri) : uri;
  return uri.length < path.length + search.length ? `${shown}...TRUNCATED` : shown;
}

function withoutTokens(uri: string): string {
  const at = uri.indexOf("?");
  return at === -1 ? uri : uri.slice(0, at) + uri.slice(at).split("&").map(withoutToken).join("&");
}

/** Some read a `;` between parameters, and some a second `?`. */
const NAMES = /(?:^|[?;])([^?;=]*)=/g;

function withoutToken(parameter: string): string {
  for (const { 0: found, 1: name = "", index } of parameter.matchAll(NAMES))
    if (/token$/i.test(decoded(name))) return `${parameter.slice(0, index + found.length)}REDACTED`;
  return parameter;
}

/** Not `decodeURIComponent`, which throws on what is malformed elsewhere. */
function decoded(name: string): string {
  return name.replace(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** Implementation of a function on values of the library. Throws a CelError. */
// biome-ignore lint/suspicious/noExplicitAny: each is given values of the types in its signature.
export type Implementation = (...args: any[]) => unknown;

/** Kubernetes function: `sets.contains(list(T), list(T)) bool`; methods begin with a dot: `.trim(string) string`. */
export type FunctionSpec = readonly [signature: string, call: Implementation];

export interface Signature {
  /** Name, such as `sets.contains`. */
  readonly name: string;
  readonly member: boolean;
  /** Parameter types; a method's receiver is the first. */
  readonly params: readonly string[];
  readonly result: string;
}

const NAMES: Readonly<Record<string, string>> = {
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
  quantity: "Quantity",
  url: "Url",
  semver: "Semver",
  format: "NamedFormat",
  ip: "Ip",
  cidr: "Cidr",
  authorizer: "Authorizer",
  pathCheck: "PathCheck",
  groupCheck: "GroupCheck",
  resourceCheck: "ResourceCheck",
  decision: "Decision",
  object: "ObjectValue",
  objectPart: "ObjectPartValue",
  patch: "JSONPatch",
};

/** Parses a signature; types are converted to the library's form: `list<int>`. */
export function parseSignature(text: string): Signature {
  const [, dot = "", name = "", list = "", result = ""] = /^(\.?)([^(]+)\((.*)\) (\S.*)$/.exec(text) ?? [];
  return { name, member: dot !== "", params: splitTypes(list).map(libraryType), result: libraryType(result) };
}

function libraryType(text: string): string {
  const [, container, inner = ""] = /^(list|map|optional)\((.*)\)$/.exec(text) ?? [];
  if (container === undefined) return NAMES[text] ?? text;
  return `${container}<${splitTypes(inner).map(libraryType).join(", ")}>`;
}

/** Splits at commas outside brackets. */
function splitTypes(list: string): string[] {
  const types: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at <= list.length; at++) {
    const char = list[at];
    if (char === "(") depth++;
    else if (char === ")") depth--;
    else if ((char === "," && depth === 0) || char === undefined) {
      const type = list.slice(start, at).trim();
      if (type !== "") types.push(type);
      start = at + 1;
    }
  }
  return types;
}

/** URL paths, the same on both sides. */
export const PATHS = {
  document: "/openapi.json",
  status: "/v1/status",
  spaces: "/v1/spaces",
} as const;

export const MEDIA = {
  json: "application/json",
  events: "application/x-ndjson",
  kubeconfig: "application/yaml",
} as const;

const KIB = 1024;

/** Maximum lengths, bytes: all pages of a list together, a kubeconfig, any other response, a request body, and a line of a watch. */
export const LIMITS: Readonly<Record<"list" | "kubeconfig" | "answer" | "request" | "line", number>> = {
  list: 16 * KIB * KIB,
  kubeconfig: 256 * KIB,
  answer: 64 * KIB,
  request: 64 * KIB,
  line: 16 * KIB,
};

/** Longest pause between two lines of a watch that a server may make, ms. */
export const SILENCE = 30_000;

/** Returns a path with the parameters that have a value. */
export function withQuery(path: string, parameters: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? path : `${path}?${query}`;
}

/** @param name name that needs no encoding */
export const pathOf = (name: string): string => `${PATHS.spaces}/${name}`;

/** Returns the media type of a header without parameters. */
export const mediaOf = (header: string | undefined): string =>
  (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";

import { at, textAt } from "../json.ts";

/** One text for each format that Kubernetes checks, and for those that kinds often say. */
const FORMATS: Readonly<Record<string, string>> = Object.freeze({
  byte: "YQ==",
  cidr: "10.0.0.0/8",
  date: "2026-01-02",
  "date-time": "2026-01-02T03:04:05Z",
  datetime: "2026-01-02T03:04:05Z",
  duration: "1s",
  email: "a@example.com",
  hostname: "a.example.com",
  ipv4: "10.0.0.1",
  ipv6: "fd00::1",
  ip: "10.0.0.1",
  mac: "00:00:5e:00:53:01",
  quantity: "1",
  uri: "https://example.com/a",
  url: "https://example.com/a",
  uuid: "2b1c9d0e-4b1e-4c55-9d0e-2b1c9d0e4b1e",
  uuid4: "2b1c9d0e-4b1e-4c55-9d0e-2b1c9d0e4b1e",
  "k8s-short-name": "a",
  "k8s-long-name": "a.example.com",
});

/** What most patterns of kinds in the field are about. Short, so that no pattern can take long over them. */
const USUAL: readonly string[] = Object.freeze([
  ...[
    "a",
    "A",
    "1",
    "0",
    "a1",
    "a1b2c3",
    "abc",
    "Abc",
    "ABC",
    "a-b",
    "a_b",
    "a.b",
    "a/b",
    "a:b",
    "a.example.com",
    "A_B",
  ],
  ...[
    "1s",
    "1h",
    "1Gi",
    "10%",
    "100m",
    "1.0",
    "1.0.0",
    "v1",
    "v1.0.0",
    "1:2",
    "#aabbcc",
    "a=b",
    "$a",
    "/",
    "/a",
    "/a/b",
  ],
  ...["a@example.com", "https://example.com", "oci://example.com/a", "s3://a", "10.0.0.1", "10.0.0.0/8", "* * * * *"],
  ...["00000000", "sha256:".padEnd(71, "0"), "0".repeat(40), "true", "{}", "[]"],
]);

/** Texts that a schema of a string lets through, as far as can be told, at most `count`. */
export function textsOf(schema: unknown, count: number): readonly string[] {
  const least = numberOr(at(schema, "minLength"), 0);
  const most = numberOr(at(schema, "maxLength"), Number.POSITIVE_INFINITY);
  const pattern = patternOf(textAt(schema, "pattern"));
  const format = FORMATS[textAt(schema, "format")];
  const long = Number.isFinite(least) && least <= 4_096 ? ["a", "b"].map((letter) => letter.repeat(least)) : [];
  const candidates = [
    ...(format === undefined ? [...USUAL, ...long] : [format]),
    ...namedBy(textAt(schema, "pattern")),
  ];
  return candidates
    .filter((text) => text.length >= least && text.length <= most && pattern?.test(text) !== false)
    .slice(0, count);
}

/** Go's expressions are not quite JavaScript's: one that cannot be read here decides nothing, the server will. */
function patternOf(pattern: string): RegExp | undefined {
  try {
    return pattern === "" ? undefined : new RegExp(pattern, "u");
  } catch {
    return undefined;
  }
}

/** The words of a pattern that is a choice of words: `^(Always|Never)$`. */
function namedBy(pattern: string): readonly string[] {
  const inner = /^\^?\(?(?:\?:)?([\w|. /:-]+?)\)?\$?$/.exec(pattern)?.[1];
  return inner === undefined ? [] : inner.split("|");
}

export function numberOr(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

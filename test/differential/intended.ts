// Differences that stay, each with its reason. One that no answer shows any longer fails a test.
import { isJsonObject } from "@virtual-workspaces/apimachinery";
import { type Difference, differences } from "./compare.ts";
import type { Answer } from "./play.ts";

/** A difference, where it is, and the two answers that it is between. */
interface Found extends Difference {
  readonly topic: string;
  readonly name: string;
  readonly theirs: Answer;
  readonly ours: Answer;
}

export interface Intended {
  /** What docs/conformance.md lists it as. */
  readonly name: string;
  readonly is: (found: Found) => boolean;
}

const NOT_FOUND_TEXT = "404 page not found\n";
/** How messages of Go's decoders can be told from Kubernetes' own. */
const GO_DECODERS =
  /json: |yaml: |cannot be handled as a |the object provided is unrecognized|parsing time |couldn't get version\/kind|unable to parse requested timeout|strconv\./;

export const INTENDED: readonly Intended[] = [
  {
    name: "Errors are always a Status",
    is: ({ at, expected, actual, theirs, ours }) =>
      theirs.body === NOT_FOUND_TEXT &&
      ours.status === 404 &&
      (/^\d+\/headers/.test(at) ||
        (expected === NOT_FOUND_TEXT && isJsonObject(actual) && actual["kind"] === "Status")),
  },
  {
    name: "Bodies that cannot be read",
    is: ({ at, expected, theirs, ours }) =>
      /^\d+\/body\/message$/.test(at) &&
      theirs.status === ours.status &&
      theirs.status === 400 &&
      typeof expected === "string" &&
      GO_DECODERS.test(expected),
  },
  {
    name: "No protobuf",
    is: ({ expected, actual }) =>
      typeof expected === "string" && expected === `${String(actual)}, application/vnd.kubernetes.protobuf`,
  },
  {
    name: "No panics",
    is: ({ theirs, ours }) => theirs.status === 0 && (ours.status ?? 500) < 500,
  },
  {
    name: "No empty continue",
    is: ({ at, expected, actual }) => /\/metadata\/continue$/.test(at) && expected === "" && actual === undefined,
  },
  {
    name: "A create with a resourceVersion is a bad request",
    is: ({ at, theirs, ours }) =>
      messageOf(theirs) === "resourceVersion should not be set on objects to be created" &&
      messageOf(ours) === messageOf(theirs) &&
      ours.status === 400 &&
      /\/(?:status|code|reason)$/.test(at),
  },
];

/** The differences that are not intended; `used` is told of each entry of {@link INTENDED} that holds for one. */
export function unintended(
  where: { readonly topic: string; readonly name: string },
  [expected, actual]: readonly [readonly Answer[], readonly Answer[]],
  used: (entry: Intended) => void,
): Difference[] {
  return differences(expected, actual).filter((difference) => {
    const step = Number.parseInt(difference.at, 10) - 1;
    const found = { ...where, ...difference, theirs: expected[step] ?? {}, ours: actual[step] ?? {} };
    const entry = INTENDED.find(({ is }) => is(found));
    if (entry !== undefined) used(entry);
    return entry === undefined;
  });
}

function messageOf({ body }: Answer): unknown {
  return isJsonObject(body) ? body["message"] : undefined;
}

// Differences that stay; docs/reference/conformance.md gives the reason for each. An entry that no longer applies to any
// answer fails a test.
import { isJsonObject } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";
import { type Difference, differences } from "./compare.ts";
import type { Answer } from "./play.ts";
import { type Case, describeStep } from "./step.ts";

/** Difference with the request and the two answers. */
interface Found extends Difference {
  /** Name of the case. */
  readonly name: string;
  readonly sent: string;
  /** Accept header of the request. */
  readonly asked: string;
  readonly theirs: Answer;
  readonly ours: Answer;
}

export interface Intended {
  /** Name, as in docs/reference/conformance.md. */
  readonly name: string;
  readonly is: (found: Found) => boolean;
}

const NOT_FOUND_TEXT = "404 page not found\n";
const NOT_FOUND = "the server could not find the requested resource";
/** Distinguishes messages of Go's decoders from Kubernetes' own. */
const GO_DECODERS =
  /json: |yaml: |cannot be handled as a |the object provided is unrecognized|parsing time |couldn't get version\/kind|in scheme "pkg\//;
/** Other messages of Kubernetes about unreadable input, which say little or describe its parser. */
const UNREADABLE = /^(?:invalid JSON patch|invalid object type: \/, Kind=)$|strconv\.|time: invalid duration/;
/** Message that contains the whole patched object, because it is invalid. */
const PATCHED = /^(?: "" is invalid: patch: )?Invalid value: "\{\\"apiVersion/;
/** Value that a scale found in place of the number of replicas. */
const SCALED = /(?<= accessor error: ).*(?= is of the type )/;
const STORAGE_ERROR = /StorageError: .*AdditionalErrorMsg: /;

export const INTENDED: readonly Intended[] = [
  {
    name: "Errors are always a Status",
    is: ({ theirs, ours }) =>
      (theirs.body === NOT_FOUND_TEXT || (isJsonObject(theirs.body) && "paths" in theirs.body)) &&
      refuses(ours, 404) &&
      messageOf(ours) === NOT_FOUND,
  },
  {
    name: "Errors are always JSON",
    is: ({ theirs, ours }) =>
      theirs.status === ours.status &&
      isStatus(ours.body) &&
      ((isJsonObject(theirs.body) && isStatus(theirs.body["yaml"]) && equalJson(theirs.body["yaml"], ours.body)) ||
        (ours.status === 406 && ours.headers === undefined && theirs.headers?.["content-type"] !== undefined)),
  },
  {
    name: "Missing objects come before media types",
    is: ({ name, theirs, ours }) => name === "of errors" && theirs.status === 406 && refuses(ours, 404),
  },
  {
    name: "Missing subresources",
    is: ({ theirs, ours }) => theirs.status === 404 && refuses(ours, 404) && messageOf(ours) === NOT_FOUND,
  },
  {
    name: "Unsupported verbs are always 405",
    is: ({ sent, theirs, ours }) =>
      refuses(ours, 405) && (theirs.body === NOT_FOUND_TEXT || /^POST .*\/(?:plains|cards)\/a$/.test(sent)),
  },
  {
    name: "Client errors are never 500",
    is: ({ theirs, ours }) => theirs.status === 500 && refuses(ours, 400, 406, 409),
  },
  {
    name: "An apply to a scale",
    is: ({ sent, theirs, ours }) => /^PATCH .*\/scale\?/.test(sent) && theirs.status === 500 && ours.status === 200,
  },
  {
    name: "No panics",
    is: ({ theirs, ours }) => theirs.status === 0 && refuses(ours, 415),
  },
  {
    name: "Missing names come before media types",
    is: ({ theirs, ours }) =>
      theirs.status === 415 && refuses(ours, 400) && messageOf(ours) === "name must be provided",
  },
  {
    name: "Tables and partial metadata of v1beta1",
    is: ({ asked, theirs, ours }) => asked.endsWith(";v=v1beta1") && theirs.status === 200 && refuses(ours, 406),
  },
  {
    name: "Media type parameters without `as`",
    is: ({ asked, theirs, ours }) =>
      asked === "application/json;g=meta.k8s.io;v=v1" && theirs.status === 406 && ours.status === 200,
  },
  {
    name: "No protobuf",
    is: ({ at, expected, actual, theirs, ours }) =>
      isMessage(at) &&
      theirs.status === ours.status &&
      ((theirs.status === 406 && String(actual).startsWith("only the following media types are accepted: ")) ||
        (theirs.status === 415 && expected === `${actual}, application/vnd.kubernetes.protobuf`)),
  },
  {
    name: "CBOR",
    is: ({ asked, theirs, ours }) =>
      (asked.startsWith("application/cbor") &&
        ours.status === 200 &&
        ours.headers?.["content-type"] === "application/cbor") ||
      (theirs.status === 415 && messageOf(ours).includes(": CBOR: ")),
  },
  {
    name: "Unreadable bodies",
    is: ({ at, expected, actual, theirs, ours }) =>
      isMessage(at) &&
      theirs.status === 400 &&
      ours.status === 400 &&
      typeof actual === "string" &&
      (GO_DECODERS.test(String(expected)) || UNREADABLE.test(String(expected))),
  },
  {
    name: "YAML with several documents",
    is: ({ theirs, ours }) =>
      theirs.status === 201 && refuses(ours, 400) && /more than one document/.test(messageOf(ours)),
  },
  {
    name: "Values in messages",
    is: ({ at, expected, actual }) =>
      /\/message$/.test(at) &&
      (lettersOf(expected) === lettersOf(actual) || [expected, actual].every((told) => PATCHED.test(String(told)))),
  },
  {
    name: "Values in messages about replicas",
    is: ({ at, expected, actual }) =>
      at.endsWith("/message") && String(expected).replace(SCALED, "") === String(actual).replace(SCALED, ""),
  },
  {
    name: "Message expressions with `optionalOldSelf`",
    is: ({ at, expected, actual }) =>
      at.endsWith("/message") &&
      /failed rule: .*oldSelf\.value\(\)/.test(String(expected)) &&
      /Invalid value: -?\d+: must not shrink$/.test(String(actual)),
  },
  {
    name: "Comparisons with NaN",
    is: ({ at, expected, actual }) =>
      at.endsWith("/message") &&
      String(expected).includes("NaN values cannot be ordered") &&
      /Invalid value: 0: failed rule: /.test(String(actual)),
  },
  {
    name: "Owners beside malformed parts",
    is: ({ name, at, expected, actual }) =>
      name === "beside nonsense" &&
      at.endsWith("/metadata/managedFields") &&
      Array.isArray(expected) &&
      Array.isArray(actual) &&
      expected.every((entry) => actual.some((told) => equalJson(entry, told))),
  },
  {
    name: "Pruned fields of an apply",
    is: ({ name, at, actual }) =>
      name === "of what is pruned, then of nothing" &&
      /^2\/(?:body\/metadata\/resourceVersion|order)$/.test(at) &&
      actual === "rv1",
  },
  {
    name: "Defaults of a status",
    is: ({ name, at, actual }) =>
      name === "with defaults, then of nothing" &&
      /^2\/(?:body\/metadata\/resourceVersion|order)$/.test(at) &&
      actual === "rv1",
  },
  {
    name: "A scale without a change",
    is: ({ name, at, actual }) =>
      /^of (\d), to \1$/.test(name) &&
      (/^[23]\/(?:body\/metadata\/resourceVersion|order)$/.test(at)
        ? actual === "rv1"
        : at === "3/body/metadata/managedFields" && Array.isArray(actual) && actual.length === 1),
  },
  {
    name: "Unreadable continue tokens",
    is: ({ at, expected, actual }) =>
      isMessage(at) &&
      String(actual).startsWith("invalid continue token") &&
      String(expected).startsWith(`${actual}: `),
  },
  {
    name: "Unsupported field selectors",
    is: ({ at, expected, actual }) => isMessage(at) && String(actual).startsWith(`${expected}; use one of `),
  },
  {
    name: "Unsupported methods",
    is: ({ sent, at, expected, actual, ours }) =>
      (isMessage(at) && actual === `${sent.slice(0, sent.indexOf(" "))}${expected}`) ||
      (sent.startsWith("NONSENSE ") && refuses(ours, 400)),
  },
  {
    name: "Other UIDs",
    is: ({ at, expected, actual }) =>
      isMessage(at) && typeof expected === "string" && expected.replace(STORAGE_ERROR, "") === actual,
  },
  {
    name: "JSON patches that do not apply",
    is: ({ at, expected, actual }) =>
      at.endsWith("/details/causes") &&
      expected === undefined &&
      Array.isArray(actual) &&
      actual.every(({ field }) => /^patch\[\d+\]$/.test(field)),
  },
  {
    name: "JSON patches that grow",
    is: ({ theirs, ours }) => theirs.status === 422 && refuses(ours, 413),
  },
  {
    name: "Causes are listed once",
    is: ({ at, expected, actual }) =>
      at.endsWith("/details/causes") &&
      Array.isArray(expected) &&
      Array.isArray(actual) &&
      expected.every((cause) => actual.some((told) => equalJson(cause, told))) &&
      actual.every((told) => expected.some((cause) => equalJson(cause, told))),
  },
  {
    name: "No empty `continue`",
    is: ({ at, expected, actual }) => at.endsWith("/metadata/continue") && expected === "" && actual === undefined,
  },
  {
    name: "Empty lists are lists",
    is: ({ at, expected, actual }) => at.endsWith("/items") && expected === null && Array.isArray(actual),
  },
  {
    name: "Every Table has columns",
    is: ({ at, expected, actual }) => at.endsWith("/columnDefinitions") && expected === null && Array.isArray(actual),
  },
  {
    name: "Limits apply to every list",
    is: ({ sent, at, actual, ours }) =>
      sent.endsWith("?resourceVersion=0&limit=1") &&
      ours.status === 200 &&
      (/\/metadata\/(?:continue|remainingItemCount)$/.test(at) ||
        (at.endsWith("/items") && Array.isArray(actual) && actual.length === 1)),
  },
  {
    name: "Object size",
    is: ({ theirs, ours }) =>
      messageOf(theirs) === "etcdserver: request is too large" &&
      (ours.status === 201 || messageOf(ours)?.startsWith("Request entity too large: ") === true),
  },
  {
    name: "Collection deletes at a version",
    is: ({ sent, theirs, ours }) =>
      /^DELETE .*\/plains\?resourceVersion=0$/.test(sent) && theirs.status === 409 && ours.status === 200,
  },
  {
    name: "Warnings beside an error",
    is: ({ at, expected, actual, theirs, ours }) =>
      /^\d+\/headers$/.test(at) &&
      isJsonObject(expected) &&
      Object.keys(expected).join() === "warning" &&
      actual === undefined &&
      theirs.status === 400 &&
      ours.status === 400,
  },
  {
    name: "Characters in warnings",
    is: ({ at, expected, actual }) =>
      at.endsWith("/headers/warning") && String(actual).replace(/299 - "[^,]*\?[^,]*", /, "") === expected,
  },
  {
    name: "The `export` parameter",
    is: ({ sent, theirs, ours }) =>
      sent.endsWith("?exact=true&export=true") && theirs.status === 400 && ours.status === 200,
  },
];

/** Returns the differences that are not intended. `used` is called with each entry of {@link INTENDED} that explains one. */
export function unintended(
  { name, steps }: Case,
  [expected, actual]: readonly [readonly Answer[], readonly Answer[]],
  used: (entry: Intended) => void = () => undefined,
): Difference[] {
  return differences(expected, actual).filter((difference) => {
    const at = Number.parseInt(difference.at, 10) - 1;
    const step = steps[at];
    const sent = step === undefined ? "" : describeStep(step);
    const asked = (step !== undefined && "headers" in step && step.headers?.["accept"]) || "";
    const found = { ...difference, name, sent, asked, theirs: expected[at] ?? {}, ours: actual[at] ?? {} };
    const entry = INTENDED.find(({ is }) => is(found));
    if (entry !== undefined) used(entry);
    return entry === undefined;
  });
}

function isMessage(at: string): boolean {
  return /^\d+\/body\/message$/.test(at);
}

function isStatus(body: unknown): boolean {
  return isJsonObject(body) && body["kind"] === "Status" && body["status"] === "Failure";
}

/** Returns whether an answer is an error with one of these codes. */
function refuses({ status = 0, body }: Answer, ...codes: readonly number[]): boolean {
  return codes.includes(status) && isStatus(body);
}

/** Returns the message, or "" when there is none. */
function messageOf({ body }: Answer): string {
  return isJsonObject(body) ? String(body["message"] ?? "") : "";
}

/** Returns the same value for texts that differ only in the order of their parts. */
function lettersOf(message: unknown): string {
  return [...String(message)].sort().join("");
}

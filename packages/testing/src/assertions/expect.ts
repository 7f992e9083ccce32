import { parse as parseYaml } from "yaml";
import { type Answer, mediaType, type RequestLine, requestText } from "../http/answer.ts";
import { firstDifference, isObject, type JsonObject, type Pair, show, textAt } from "./json.ts";

/** Request, expectation and actual answer of a failed check. */
export interface FailureDetails {
  /** Request line without credentials: `GET https://…?watch=true (accept: …)`. */
  readonly request: string;
  readonly expected: string;
  readonly actual: string;
}

/** Error of a check that found the server wrong. */
export class CheckFailure extends Error {
  override readonly name = "CheckFailure";
  readonly details: FailureDetails;

  constructor(details: FailureDetails) {
    super(`${details.request}: expected ${details.expected}, got ${details.actual}`);
    this.details = details;
  }
}

/** Error of a check that does not apply to this server. */
export class CheckSkipped extends Error {
  override readonly name = "CheckSkipped";
}

/** Fails the running check, because the answer to `request` is wrong. */
export function fail(request: RequestLine, expected: string, actual: string): never {
  throw new CheckFailure({ request: requestText(request), expected, actual });
}

/** Ends the running check without a verdict. */
export function skip(reason: string): never {
  throw new CheckSkipped(reason);
}

/** Returns the status, the media type and the first characters of an unexpected body. */
export function excerpt({ status, headers, body }: Answer): string {
  const text = body.subarray(0, 300).toString("utf8").trim();
  return `${status} ${headers["content-type"] ?? "without a content type"}: ${text === "" ? "an empty body" : text}`;
}

export function expectCode(answer: Answer, codes: readonly number[], why = ""): void {
  if (!codes.includes(answer.status)) fail(answer.request, `${codes.join(" or ")}${why}`, excerpt(answer));
}

/** Returns the JSON object of an answer, whatever its status. */
export function expectJson(answer: Answer): JsonObject {
  if (mediaType(answer) !== "application/json") fail(answer.request, "application/json", excerpt(answer));
  const document = parsed(answer);
  if (!isObject(document)) fail(answer.request, "a JSON object", excerpt(answer));
  return document;
}

/** Returns the JSON document of a 200. A 403 skips the check: the user of the run may not read the document. */
export function expectOk(answer: Answer): JsonObject {
  if (answer.status === 403) skip(`the user of this run may not read ${answer.request.url}`);
  expectCode(answer, [200]);
  return expectJson(answer);
}

/** Codes and reasons that an error may have. */
export interface ExpectedStatus {
  readonly codes: readonly number[];
  readonly reasons: readonly string[];
}

/** Expects a Kubernetes error: a Status that agrees with the HTTP status, in YAML when the request accepts YAML. */
export function expectStatus(answer: Answer, { codes, reasons }: ExpectedStatus): JsonObject {
  expectCode(answer, codes);
  const type = mediaType(answer);
  const document = type === "application/yaml" ? parseYaml(answer.body.toString("utf8")) : parsed(answer);
  return expectStatusObject(answer.request, document, { codes: [answer.status], reasons });
}

/** Expects a Status, either the body of an answer or the object of an ERROR event. */
export function expectStatusObject(
  request: RequestLine,
  document: unknown,
  { codes, reasons }: ExpectedStatus,
): JsonObject {
  const wrong = (what: string): never => fail(request, `a v1 Status with ${what}`, show(document));
  if (!isObject(document) || document["kind"] !== "Status" || document["apiVersion"] !== "v1")
    return wrong("kind Status");
  if (document["status"] !== "Failure") return wrong("status Failure");
  if (!codes.includes(Number(document["code"]))) return wrong(`code ${codes.join(" or ")}`);
  if (!reasons.includes(textAt(document, "reason"))) return wrong(`reason ${reasons.join(" or ")}`);
  if (textAt(document, "message") === "") return wrong("a message");
  return document;
}

/** Expects equal JSON, and fails with the first difference. */
export function expectSame(request: RequestLine, what: string, pair: Pair): void {
  const found = firstDifference(pair);
  if (found !== undefined) fail(request, `${what}${found.path} ${show(found.expected)}`, show(found.actual));
}

function parsed(answer: Answer): unknown {
  try {
    return JSON.parse(answer.body.toString("utf8"));
  } catch {
    return fail(answer.request, "a JSON body", excerpt(answer));
  }
}

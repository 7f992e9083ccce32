import { parse as parseYaml } from "yaml";
import { type Answer, mediaType, type RequestLine, requestText } from "../http/answer.ts";
import { firstDifference, isObject, type JsonObject, type Pair, show, textAt } from "./json.ts";

/** What a check found wrong. */
export interface FailureDetails {
  /** As it went out, credentials left out: `GET https://…?watch=true (accept: …)`. */
  readonly request: string;
  readonly expected: string;
  readonly actual: string;
}

/** Thrown by a check: the server is wrong. */
export class CheckFailure extends Error {
  override readonly name = "CheckFailure";
  readonly details: FailureDetails;

  constructor(details: FailureDetails) {
    super(`${details.request}: expected ${details.expected}, got ${details.actual}`);
    this.details = details;
  }
}

/** Thrown by a check: there is nothing to say about the server here. */
export class CheckSkipped extends Error {
  override readonly name = "CheckSkipped";
}

/** Ends a check: the answer to `request` is not what it must be. */
export function fail(request: RequestLine, expected: string, actual: string): never {
  throw new CheckFailure({ request: requestText(request), expected, actual });
}

/** Ends a check without a verdict. */
export function skip(reason: string): never {
  throw new CheckSkipped(reason);
}

/** The first characters of a body that is not what it should be. */
export function excerpt({ status, headers, body }: Answer): string {
  const text = body.subarray(0, 300).toString("utf8").trim();
  return `${status} ${headers["content-type"] ?? "without a content type"}: ${text === "" ? "an empty body" : text}`;
}

export function expectCode(answer: Answer, codes: readonly number[], why = ""): void {
  if (!codes.includes(answer.status)) fail(answer.request, `${codes.join(" or ")}${why}`, excerpt(answer));
}

/** A JSON object of whatever status. */
export function expectJson(answer: Answer): JsonObject {
  if (mediaType(answer) !== "application/json") fail(answer.request, "application/json", excerpt(answer));
  const document = parsed(answer);
  if (!isObject(document)) fail(answer.request, "a JSON object", excerpt(answer));
  return document;
}

/** The JSON document of a 200. A user who may not read it says nothing about the server. */
export function expectOk(answer: Answer): JsonObject {
  if (answer.status === 403) skip(`the user of this run may not read ${answer.request.url}`);
  expectCode(answer, [200]);
  return expectJson(answer);
}

/** What an error must be. */
export interface ExpectedStatus {
  readonly codes: readonly number[];
  readonly reasons: readonly string[];
}

/** An error as Kubernetes has it: the body is a Status that agrees with the HTTP status. YAML if that was asked for. */
export function expectStatus(answer: Answer, { codes, reasons }: ExpectedStatus): JsonObject {
  expectCode(answer, codes);
  const type = mediaType(answer);
  const document = type === "application/yaml" ? parseYaml(answer.body.toString("utf8")) : parsed(answer);
  return expectStatusObject(answer.request, document, { codes: [answer.status], reasons });
}

/** A Status, be it the body of an answer or the object of an ERROR event. */
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

/** Equal JSON, or the first place where it is not. */
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

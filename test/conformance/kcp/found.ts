// Differences between two answers, and helpers to distinguish them.
import { isJsonObject } from "@virtual-workspaces/apimachinery";
import type { Difference } from "../../differential/compare.ts";
import type { Answer } from "../../differential/play.ts";

/** Difference with the request and the two answers. */
export interface Found extends Difference {
  /** Name of the case. */
  readonly name: string;
  readonly sent: string;
  readonly theirs: Answer;
  readonly ours: Answer;
}

export interface Known {
  /** Name, as in docs/reference/kcp/answers.md. */
  readonly name: string;
  readonly is: (found: Found) => boolean;
}

export function kindOf({ body }: Answer): unknown {
  return isJsonObject(body) ? body["kind"] : undefined;
}

export function isStatus(answer: Answer): boolean {
  return kindOf(answer) === "Status";
}

export function isNothing({ status, body }: Answer): boolean {
  return status === 200 && isJsonObject(body) && JSON.stringify(body["resources"]) === "{}";
}

/** Returns whether an answer is an error with this code. */
export function refuses(answer: Answer, code: number): boolean {
  return answer.status === code && isStatus(answer);
}

/** Returns the message, or "" when there is none. */
export function messageOf({ body }: Answer): string {
  return isJsonObject(body) ? String(body["message"] ?? "") : "";
}

export function isEmpty(value: unknown): boolean {
  return [undefined, null, ""].includes(value as null) || ["{}", "[]"].includes(JSON.stringify(value));
}

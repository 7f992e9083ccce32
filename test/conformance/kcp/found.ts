// A difference between two answers, and what tells one from another.
import { isJsonObject } from "@virtual-workspaces/apimachinery";
import type { Difference } from "../../differential/compare.ts";
import type { Answer } from "../../differential/play.ts";

/** A difference, what was sent, and the two answers that it is between. */
export interface Found extends Difference {
  /** Of the case. */
  readonly name: string;
  readonly sent: string;
  readonly theirs: Answer;
  readonly ours: Answer;
}

export interface Known {
  /** Name in docs/reference/kcp/answers.md. */
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

/** Whether an answer is an error of this code. */
export function refuses(answer: Answer, code: number): boolean {
  return answer.status === code && isStatus(answer);
}

/** "" where there is none. */
export function messageOf({ body }: Answer): string {
  return isJsonObject(body) ? String(body["message"] ?? "") : "";
}

export function isEmpty(value: unknown): boolean {
  return [undefined, null, ""].includes(value as null) || ["{}", "[]"].includes(JSON.stringify(value));
}

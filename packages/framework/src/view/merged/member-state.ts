import { isApiError } from "@virtual-workspaces/apimachinery";
import type { SourceCondition } from "./options.ts";

/** How a source does for one stream. */
export interface MemberState {
  readonly reason: Exclude<SourceCondition["reason"], "Unread">;
  readonly message: string;
  readonly since: Date;
  /** Whether it has said itself why it tells nothing: then it is there, and has something against this one question. */
  readonly answers: boolean;
  /** Whether what it said is that there is nothing to read: 403, or 404, which servers that still start do not answer. */
  readonly denies: boolean;
}

/** A source that has not answered in time. */
export class Late extends Error {
  constructor(patience: number) {
    super(`no answer within ${patience} ms`);
  }
}

/** What an error says of its source: that we may not read it, or nothing but that it cannot be read now. */
export function stateAfter(error: unknown, before: MemberState): MemberState {
  const code = isApiError(error) ? error.code : 500;
  const reason = code === 403 ? "Forbidden" : "Unreachable";
  const message = error instanceof Error ? error.message : String(error);
  return {
    reason,
    message,
    since: before.reason === reason ? before.since : new Date(),
    answers: code < 500,
    denies: code === 403 || code === 404,
  };
}

/** How many sources an answer names one by one. */
const MOST_NAMED = 8;

/** What clients are told of sources that an answer does without: whose, and since when, but not why. */
export function warnings(
  failing: readonly { readonly name: string; readonly joined: boolean; readonly state: MemberState }[],
): string[] {
  const texts = failing.slice(0, MOST_NAMED).map(({ name, joined, state: { reason, since } }) => {
    if (reason === "Forbidden") return `source ${name} may not be read: its objects are left out`;
    const rest = joined ? "its objects are as of then" : "its objects are missing";
    return `source ${name} has not been reachable since ${second(since)}: ${rest}`;
  });
  if (failing.length > MOST_NAMED) texts.push(`${failing.length - MOST_NAMED} more sources are not reachable`);
  return texts;
}

/** As Kubernetes writes times. */
export function second(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

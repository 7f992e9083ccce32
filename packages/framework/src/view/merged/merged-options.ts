import { isApiError } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "../../definition.ts";
import type { Scope } from "../../storage.ts";
import type { HistoryOptions } from "../../watch/cache/watch-cache.ts";
import type { ViewSource } from "../view-options.ts";

/** A source without logical clusters, such as a plain cluster, with the logical cluster for its objects. */
export interface PlacedSource<T extends object = object> {
  /** Source that is read without a logical cluster. */
  readonly source: ViewSource<T>;
  /** Logical cluster of its objects here. Requests for other logical clusters do not read this source. */
  readonly cluster: string;
  /** Annotations to set on each of its objects, which override the source's: where the object is from. @default none */
  readonly annotations?: Readonly<Record<string, string>>;
  /**
   * Returns why lists may leave the source out for now, for a `Warning`: they do not wait for it while it was never read.
   * `undefined`: it is needed, as {@link PartialAnswers} says. Security: clients see the text.
   * @default needed
   */
  readonly leftOut?: () => string | undefined;
}

/** Source of {@link Merged}. */
export type MergedSource<T extends object = object> = ViewSource<T> | PlacedSource<T>;

/**
 * Content of lists and gets while a source cannot be reached. A `Warning` or a 503 names the source.
 *
 * - `known`: they show its objects as they were last seen. 503 if they were never seen, since an informer takes an object
 *   that is missing from a list for deleted.
 * - `always`: they leave out what was never seen. For people, not for programs that act on missing objects.
 * - `never`: 503.
 */
export type PartialAnswers = "known" | "always" | "never";

/** Sources to merge, and how much of them may be missing. */
export interface MergedOptions<T extends object> {
  /**
   * Sources by name, all of one kind. Clients learn the names of those that fail. When two have an object of the same logical
   * cluster, namespace and name, the first one is shown.
   */
  readonly sources: Readonly<Record<string, MergedSource<T>>>;
  /** Kind of the objects. @default the kind of the sources, of which there must then be one */
  readonly resource?: TypedDefinition<T>;
  /**
   * Returns the key of callers that may share a stream, as `Storage.shareKey`, for all sources, also those added later.
   * Security: each source must give callers with equal keys the same objects; otherwise they leak from one caller to another.
   * `Merged.setSource` needs it.
   * @default combines the keys of the sources
   */
  readonly shareKey?: (scope: Scope) => string;
  /** Answers while a source cannot be reached. @default "known" */
  readonly partial?: PartialAnswers;
  /** How long a reader waits for a source until it counts as unreachable, in ms. Retries then run in the background. @default 3000 */
  readonly patience?: number;
  readonly history?: HistoryOptions;
  /** How long the sources are followed after the last reader, so that clients can resume, in ms. @default 60000 */
  readonly linger?: number;
  /** Called when a source fails, once per attempt, and on objects that cannot be read. @default a process warning */
  readonly onError?: (error: unknown, source: string) => void;
}

/** State of a source, in the form of a Kubernetes condition. */
export interface SourceCondition {
  /** Name of the source. */
  readonly source: string;
  readonly type: "Reachable";
  /** Status; `Unknown` without readers, when the source is not read. */
  readonly status: "True" | "False" | "Unknown";
  /** Reason. `Forbidden`: the source answers 403, and its objects are hidden. With the others its objects stay as last seen. */
  readonly reason: "Connected" | "Connecting" | "Forbidden" | "Unreachable" | "Unread";
  /** Error of the source, for operators. Security: may name hosts; do not show it to clients. */
  readonly message: string;
  /** Time when `status` last changed, RFC 3339. */
  readonly lastTransitionTime: string;
}

/** State of a source for one stream. */
export interface MemberState {
  readonly reason: Exclude<SourceCondition["reason"], "Unread">;
  readonly message: string;
  readonly since: Date;
  /** Whether the source itself answered with the error: it is reachable, and rejects only this request. */
  readonly answers: boolean;
  /** Whether the answer means that there is nothing to read: 403, or 404, which a starting server does not send. */
  readonly denies: boolean;
}

/** Error of a source that has not answered in time. */
export class Late extends Error {
  constructor(patience: number) {
    super(`no answer within ${patience} ms`);
  }
}

/** Returns the state of a source after an error: reading is forbidden, or fails for now. */
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

/** Maximum number of sources that an answer names. */
const MOST_NAMED = 8;

/** Returns the warnings about missing sources: their names and since when, but not why. */
export function warnings(
  failing: readonly {
    readonly name: string;
    readonly joined: boolean;
    readonly state: MemberState;
    readonly leftOut: string | undefined;
  }[],
): string[] {
  const texts = failing.slice(0, MOST_NAMED).map(({ name, joined, leftOut, state: { reason, since } }) => {
    if (leftOut !== undefined && !joined) return `source ${name} is left out: ${leftOut}`;
    if (reason === "Forbidden") return `access to source ${name} is forbidden: its objects are left out`;
    const rest = joined ? "its objects are as of then" : "its objects are missing";
    return `source ${name} has not been reachable since ${second(since)}: ${rest}`;
  });
  if (failing.length > MOST_NAMED) texts.push(`${failing.length - MOST_NAMED} more sources are not reachable`);
  return texts;
}

/** Formats a time as Kubernetes does. */
export function second(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

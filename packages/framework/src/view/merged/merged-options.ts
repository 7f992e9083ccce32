import { isApiError } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "../../definition.ts";
import type { Scope } from "../../storage.ts";
import type { HistoryOptions } from "../../watch/cache/watch-cache.ts";
import type { ViewSource } from "../view-options.ts";

/** A source whose objects are to be in a logical cluster: a plain cluster, which knows of none. */
export interface PlacedSource<T extends object = object> {
  /** Asked for the objects that it has without a logical cluster. */
  readonly source: ViewSource<T>;
  /** The logical cluster that its objects are in here. Who reads another one does not ask this source. */
  readonly cluster: string;
  /** What each of its objects says in its annotations besides, in place of what the source says there: from where it is. @default nothing */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** One of the sources of {@link Merged}. */
export type MergedSource<T extends object = object> = ViewSource<T> | PlacedSource<T>;

/**
 * What lists and gets are while a source cannot be reached, which they name in a `Warning` or in a 503.
 *
 * - `known`: they show its objects as they were last seen; 503 as long as they never were, since what is not in a list
 *   looks deleted to an informer.
 * - `always`: they leave out what was never seen. For people who look, not for programs that act on what is not there.
 * - `never`: 503.
 */
export type PartialAnswers = "known" | "always" | "never";

/** What is merged, and how much of it may be missing. */
export interface MergedOptions<T extends object> {
  /**
   * The sources by name, all of one kind. Clients are told the names of those that fail. Where two have an object of the
   * same logical cluster, namespace and name, the one that stands first here is shown.
   */
  readonly sources: Readonly<Record<string, MergedSource<T>>>;
  /** The kind. @default that of the sources, of which there must then be one */
  readonly resource?: TypedDefinition<T>;
  /**
   * Who may read the same stream, as `Storage.shareKey`, for all sources, those that are added later too: callers with equal
   * keys must be given the same by each. What is left out of it leaks from one caller to another. `Merged.setSource` needs it.
   * @default composed of what the sources say
   */
  readonly shareKey?: (scope: Scope) => string;
  /** What is answered while a source cannot be reached. @default "known" */
  readonly partial?: PartialAnswers;
  /** How long one reader waits for a source before that counts as unreachable, ms. Then it is asked in the background. @default 3000 */
  readonly patience?: number;
  readonly history?: HistoryOptions;
  /** How long the sources are followed after the last reader left, so that clients resume, ms. @default 60000 */
  readonly linger?: number;
  /** Told why a source fails, once for each attempt, and of objects that cannot be read. @default a process warning */
  readonly onError?: (error: unknown, source: string) => void;
}

/** How a source does, in the form of a Kubernetes condition. */
export interface SourceCondition {
  /** The source's name. */
  readonly source: string;
  readonly type: "Reachable";
  /** `Unknown` while nobody reads, so that it is not asked. */
  readonly status: "True" | "False" | "Unknown";
  /** `Forbidden`: it answers 403, so that its objects are not shown. The others show them as they last were. */
  readonly reason: "Connected" | "Connecting" | "Forbidden" | "Unreachable" | "Unread";
  /** What it said: for operators. It may name hosts, and is no client's business. */
  readonly message: string;
  /** When `status` became what it is, RFC 3339. */
  readonly lastTransitionTime: string;
}

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

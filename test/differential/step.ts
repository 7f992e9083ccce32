// Elements of cases. Steps are plain data, because they are recorded, and random histories consist of them too.

/** Request, opening of a watch, or read of some of its events. */
export type Step = RequestStep | WatchStep | ReadStep;

/** Request. In paths, headers and bodies, `$(name.metadata.uid)` is that member of the answer named `name`. */
export interface RequestStep {
  /** Method and path with its query: `GET /apis/…`. */
  readonly send: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body, sent as JSON. */
  readonly body?: unknown;
  /** Raw body, instead of `body`. */
  readonly text?: string;
  /** Generated body, instead of `body`: many copies of `piece` between `head` and `tail`. */
  readonly fill?: { readonly head: string; readonly piece: string; readonly times: number; readonly tail: string };
  /** Name of an answer that is the body, with `body` merged into it as a merge patch. */
  readonly base?: string;
  /** Name of the answer in later steps. */
  readonly as?: string;
}

/** Opens a watch, which stays open until the case ends. */
export interface WatchStep {
  readonly watch: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Name of the watch in read steps. */
  readonly as: string;
}

/** Reads a number of events of a watch, all of them, or those up to the first of an object. */
export type ReadStep = { readonly read: string } & ({ readonly events: number | "end" } | { readonly until: string });

/** Named list of steps, played on an empty server. */
export interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** Cases about one subject, recorded in one file. */
export interface Topic {
  readonly name: string;
  readonly cases: readonly Case[];
}

/** Returns a topic of cases by name. */
export function topic(name: string, cases: Readonly<Record<string, readonly Step[]>>): Topic {
  return { name, cases: Object.entries(cases).map(([title, steps]) => ({ name: title, steps })) };
}

/** Describes a step of a case, for messages in which steps are numbered from 1. */
export function describeStep(step: Step): string {
  if ("send" in step) return step.send;
  if ("watch" in step) return `WATCH ${step.watch}`;
  return `read ${step.read} ${"until" in step ? `until ${step.until}` : step.events}`;
}

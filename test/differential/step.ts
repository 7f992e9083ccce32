// What a case is made of. Steps are plain data: they are recorded, and random histories are made of them too.

/** One request, one watch that is opened, or some events of it. */
export type Step = RequestStep | WatchStep | ReadStep;

/** In paths, headers and bodies `$(name.metadata.uid)` stands for what the answer called `name` had there. */
export interface RequestStep {
  /** Method and path with its query: `GET /apis/…`. */
  readonly send: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly text?: string;
  /** Sent instead of `body`: `piece` many times, between `head` and `tail`. */
  readonly fill?: { readonly head: string; readonly piece: string; readonly times: number; readonly tail: string };
  /** The body is the answer called this, with `body` merged into it as a merge patch. */
  readonly base?: string;
  /** What later steps call the answer. */
  readonly as?: string;
}

/** Opens a watch, which stays open until the case ends. */
export interface WatchStep {
  readonly watch: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What steps that read from it call it. */
  readonly as: string;
}

/** Reads so many events of a watch, all until it ends, or up to the first of an object. */
export type ReadStep = { readonly read: string } & ({ readonly events: number | "end" } | { readonly until: string });

/** A named list of steps, played from an empty server. */
export interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** Cases of one subject, recorded in one file. */
export interface Topic {
  readonly name: string;
  readonly cases: readonly Case[];
}

/** A topic of cases by their names. */
export function topic(name: string, cases: Readonly<Record<string, readonly Step[]>>): Topic {
  return { name, cases: Object.entries(cases).map(([title, steps]) => ({ name: title, steps })) };
}

/** The steps of a case, numbered from 1 in what is said of them. */
export function describeStep(step: Step): string {
  if ("send" in step) return step.send;
  if ("watch" in step) return `WATCH ${step.watch}`;
  return `read ${step.read} ${"until" in step ? `until ${step.until}` : step.events}`;
}

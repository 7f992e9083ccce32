// Elements of cases: requests by several users, in a new workspace for each case. They are plain data, because they are
// recorded.

/** `root` is in `system:masters`, `admin` in `system:kcp:admin`; `nobody` sends no credentials, `stranger` an unknown token. */
export type User = "root" | "admin" | "alice" | "bob" | "nobody" | "stranger";

/**
 * Request. In paths, headers and bodies, `$(ws)` is the cluster name of the case, `$(path)` the path of its workspace and
 * `$(name)` its name. `$(x.metadata.uid)` is that member of the answer named `x`.
 */
export interface Ask {
  /** `GET /clusters/$(ws)/api/v1/namespaces`. */
  readonly send: string;
  /** User who sends the request. @default "admin" */
  readonly user?: User;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body, sent as JSON. */
  readonly body?: unknown;
  /** Raw body, instead of `body`. */
  readonly text?: string;
  /** Repeats the request until its answer has these members, by value: `{ body: { status: { phase: "Ready" } } }`. */
  readonly until?: unknown;
  /** Members of the body to record, as paths: controllers write the others at any time. @default all of them */
  readonly tell?: readonly string[];
  /** Member of the body of which only the names are recorded. */
  readonly names?: string;
  /** Name of the answer in later steps. */
  readonly as?: string;
}

/** Watch. Reads events until one has these members, and records them for each event, without repetitions. */
export interface Watch {
  readonly watch: string;
  readonly user?: User;
  readonly headers?: Readonly<Record<string, string>>;
  /** Request to send once the watch is open. */
  readonly meanwhile?: Ask;
  readonly until: unknown;
  readonly tell: readonly string[];
}

export type Step = Ask | Watch;

export interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** Cases about one subject, recorded in one file. */
export interface Area {
  readonly name: string;
  readonly cases: readonly Case[];
}

export function area(name: string, cases: Readonly<Record<string, readonly Step[]>>): Area {
  return { name, cases: Object.entries(cases).map(([title, steps]) => ({ name: title, steps })) };
}

export function describeStep(step: Step): string {
  const by = step.user === undefined ? "" : ` by ${step.user}`;
  return "send" in step ? `${step.send}${by}` : `WATCH ${step.watch}${by}`;
}

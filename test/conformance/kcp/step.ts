// What cases are made of: requests by several users, in a workspace that is new for each case. Plain data: it is recorded.

/**
 * `root` is of `system:masters`, `admin` of `system:kcp:admin`, `nobody` sends no credentials; `stranger` has a token that
 * nobody has given.
 */
export type User = "root" | "admin" | "alice" | "bob" | "nobody" | "stranger";

/**
 * In paths, headers and bodies `$(ws)` is the name of the case's logical cluster, `$(path)` the path of its workspace,
 * `$(name)` that workspace's name; `$(x.metadata.uid)` what the answer called `x` had there.
 */
export interface Ask {
  /** `GET /clusters/$(ws)/api/v1/namespaces`. */
  readonly send: string;
  /** @default "admin" */
  readonly user?: User;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly text?: string;
  /** The request is sent again until its answer has these members, by value: `{ body: { status: { phase: "Ready" } } }`. */
  readonly until?: unknown;
  /** What is told of the body, by paths of members: controllers write the rest when they like. @default all of it */
  readonly tell?: readonly string[];
  /** Of a body's member, only the names in it are told. */
  readonly names?: string;
  /** What later steps call the answer. */
  readonly as?: string;
}

/** Opens a watch, reads events until one has these members, and tells those members of them, each once where they repeat. */
export interface Watch {
  readonly watch: string;
  readonly user?: User;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent once the watch is open. */
  readonly meanwhile?: Ask;
  readonly until: unknown;
  readonly tell: readonly string[];
}

export type Step = Ask | Watch;

export interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** Cases of one subject, recorded in one file. */
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

/** How long may pass, ms; `Infinity` for ever. */
export interface Deadlines {
  /** Until there is a connection, TLS included. @default 5000 */
  readonly connect: number;
  /**
   * From the call until the answer's head has come: waiting for credentials, for a free connection and for a new one
   * included, and a second try, too. @default 30000
   */
  readonly head: number;
  /** Between two pieces of a body, while somebody wants to read it. One that trickles has no end: a signal ends it. @default 30000 */
  readonly idle: number;
}

/** What holds for a request that says nothing else. */
export const defaultDeadlines: Deadlines = Object.freeze({ connect: 5_000, head: 30_000, idle: 30_000 });

/** Those of `own` that are set, the others from `others`. @throws Error on what is no length of time */
export function resolvedDeadlines(own: Partial<Deadlines> | undefined, others: Deadlines): Deadlines {
  if (own === undefined) return others;
  const of = (name: keyof Deadlines): number => {
    const ms = own[name] ?? others[name];
    if (ms > 0) return ms;
    throw new Error(`deadlines.${name}: give milliseconds above 0, or Infinity`);
  };
  return { connect: of("connect"), head: of("head"), idle: of("idle") };
}

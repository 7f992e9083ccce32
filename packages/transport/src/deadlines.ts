/** How long may pass, ms; `Infinity` for ever. */
export interface Deadlines {
  /** Until there is a connection, TLS included. @default 5000 */
  readonly connect: number;
  /** From the call until the answer's head has come, waiting for a free connection included. @default 30000 */
  readonly head: number;
  /** Between two pieces of a body, while somebody wants to read it. @default 30000 */
  readonly idle: number;
}

/** What holds for a request that says nothing else. */
export const defaultDeadlines: Deadlines = Object.freeze({ connect: 5_000, head: 30_000, idle: 30_000 });

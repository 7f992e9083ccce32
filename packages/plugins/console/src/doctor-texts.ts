// Why: the page of the console and the command doctor check the same things, and must not say it in two ways.

/** A check of `/readyz`. */
export interface ReadinessCheck {
  readonly name: string;
  readonly ok: boolean;
  /** "" if the server withholds it. */
  readonly reason: string;
}

/** Reads the answer of `/readyz?verbose`: one check a line. */
export function readinessChecks(text: string): readonly ReadinessCheck[] {
  const lines = [...text.matchAll(/^\[([+-])\](\S+) (?:ok|failed(?:: (.*))?)$/gm)];
  return lines.map(([, sign, name = "", reason = ""]) => ({ name, ok: sign === "+", reason }));
}

/** Age of an index of a front proxy above which it is out of date, in seconds. */
const MOST_LAG = 60;

/** Age of a shard in the index of a front proxy. */
export interface IndexLag {
  readonly shard: string;
  readonly seconds: number;
  readonly isLate: boolean;
}

/** Reads the ages of the index of a front proxy of this project from its `/metrics`; none of another server. */
export function indexLags(metrics: string): readonly IndexLag[] {
  const lines = [...metrics.matchAll(/^virtual_workspaces_index_lag_seconds\{shard="([^"]*)"\} (\S+)$/gm)];
  return lines.map(([, shard = "", text]) => {
    const seconds = Number(text);
    return { shard, seconds, isLate: !(seconds <= MOST_LAG) };
  });
}

const counted = (count: number): string => `${count} ${count === 1 ? "object" : "objects"}`;

/** Texts of the checks of a server, of a workspace and of a view, by check: titles, results and remedies. */
export const DOCTOR_TEXTS = {
  reached: { title: "the server is reachable and its certificate is valid" },
  ready: {
    title: "the server is ready",
    ok: "/readyz answers ok",
    /** Result of another status code. */
    other: (status: number): string => `/readyz answers ${status}`,
    /** Result that names the failed checks. */
    failed: (checks: readonly ReadinessCheck[]): string =>
      `not ready: ${checks.map(({ name, reason }) => `${name}: ${reason || "no reason given"}`).join("; ")}`,
    remedy:
      'wait; if it does not become ready, find the reason in its log: a view logs "virtual workspace is not ready"',
    remedyWithoutReason: "wait; if it does not become ready, find the reason in its log",
  },
  known: {
    title: "the server authenticates the user",
    /** Result that names the user. */
    user: (name: string, groups: readonly string[] | undefined): string =>
      `${name}, groups: ${groups === undefined ? "none" : groups.join(", ")}`,
  },
  entered: {
    title: "the user has access",
    ofMessage: "correct the URL as the message says",
    internal: 'ask the operator of the server: the log has the reason, as "request failed" with the id of this request',
    wait: "wait, and try again; read the server's log for the reason",
  },
  synced: {
    title: "a watch syncs",
    none: "no resource there supports list and watch",
    /** Result of a watch of a resource: its objects, and the time until they were there, in ms. */
    ok: (name: string, count: number, ms: number): string => `${name}: ${counted(count)} in ${Math.round(ms)} ms`,
    /** Result of a watch that the user may not open. */
    forbidden: (name: string, message: string): string => `the user may not watch ${name}: ${message}`,
    /** Result of a watch without its first state, after a time in seconds. */
    late: (name: string, seconds: number, message: string): string =>
      `a watch of ${name} has not synced within ${seconds} s${message === "" ? "" : `: ${message}`}`,
    remedy: "look for a proxy between here and the server that buffers streams or limits their duration",
  },
  indexed: {
    title: "the index of the front proxy is up to date",
    /** Result where the user may not read metrics. */
    denied: (status: number): string => `/metrics answers ${status} to this user`,
    none: "there is no front proxy of this project at this address",
    /** Result that lists the ages of all shards. */
    ok: (lags: readonly IndexLag[]): string =>
      lags.map(({ shard, seconds }) => `${shard} ${seconds.toFixed(1)} s`).join(", "),
    /** Result of a shard whose age is too high. */
    late: ({ shard, seconds }: IndexLag): string =>
      `shard ${shard} has sent nothing for ${seconds} s: the index lacks its latest changes`,
    /** Remedy for such a shard. */
    remedy: (shard: string): string =>
      `check that the shard runs, and read the front proxy's log: kubectl get shard ${shard} -o yaml`,
  },
} as const;

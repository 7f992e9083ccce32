// Why: a hundred servers with a run of the suite each take half a minute of one core. Workers use the other cores.
import { parentPort } from "node:worker_threads";
import { staticTokens } from "@virtual-workspaces/framework";
import type { LogRecord } from "@virtual-workspaces/framework/server";
import { type CheckResult, runConformance, startTestServer } from "@virtual-workspaces/testing";
import { startWorkspaces } from "../../workspace-server/support/workspaces.ts";
import { notesView, writableNotesView } from "../notes.ts";
import { breakages } from "./all.ts";
import type { Breakage } from "./breakage.ts";
import { startBroken } from "./proxy.ts";

/** Result of one breakage by its index, or of a server without one. */
export interface BrokenReport {
  readonly index: number;
  readonly results: readonly CheckResult[];
  /** Warnings and errors of the real server. */
  readonly logged: readonly LogRecord[];
}

/** Index of a server without a breakage. */
const NOTHING = -1;
/** The same, for checks that write. */
const NOTHING_WRITING = -2;
/** The same, for checks of garbage collection. */
const NOTHING_COLLECTING = -3;
const WRITING = /^(T5|T9|T10|V)/;
/** Checks of namespaces have tests and faults of their own, in `checks/namespaces.test.ts`. */
const NAMESPACES = /^T14\./;
const COLLECTING = /^T10\.(9|1\d)$/;

async function reportOn(index: number): Promise<BrokenReport> {
  const breakage = breakages[index] ?? { name: "nothing", fails: [], writes: index === NOTHING_WRITING };
  if (breakage.collects === true || index === NOTHING_COLLECTING) return collected(index, breakage);
  const writes = breakage.writes === true;
  // A thousand more requests, only when they can show a fault.
  const users = breakage.users === true || index === NOTHING;
  const { view, path, mutate } = writes ? writableNotesView() : notesView();
  const logged: LogRecord[] = [];
  const log = (record: LogRecord): void => void (record.level === "info" || logged.push(record));
  await using server = await startTestServer([view], {
    log,
    authentication: [staticTokens({ known: { name: "known" }, patcher: { name: "patcher" } })],
  });
  await using broken = await startBroken(server.url, breakage);
  const { results } = await runConformance({
    url: `${broken.url}${path}`,
    credentials: { token: "known" },
    checks: (id) => WRITING.test(id) === writes && !COLLECTING.test(id) && !NAMESPACES.test(id),
    ...(users ? { others: [{ token: "patcher" }] } : {}),
    ...(writes ? { writes: { patchOnly: { token: "patcher" } } } : {}),
    ...(mutate === undefined ? {} : { mutate }),
    strict: true,
    deadlines: { answer: 8_000, prompt: 2_500 },
  });
  return { index, results, logged };
}

/** Runs in a workspace, which has namespaces and a garbage collector. */
async function collected(index: number, breakage: Breakage): Promise<BrokenReport> {
  const logged: LogRecord[] = [];
  const log = (record: LogRecord): void => void (record.level === "info" || logged.push(record));
  await using server = await startWorkspaces(undefined, { log, tls: false });
  await using broken = await startBroken(server.url, breakage);
  const { results } = await runConformance({
    url: `${broken.url}/clusters/root`,
    credentials: { token: "root" },
    resources: ({ name }) => name === "configmaps",
    checks: (id) => COLLECTING.test(id),
    writes: { collects: true },
    deadlines: { answer: 5_000 },
  });
  return { index, results, logged };
}

parentPort?.on("message", async (index: number) => parentPort?.postMessage(await reportOn(index)));

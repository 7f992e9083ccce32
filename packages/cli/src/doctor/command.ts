import { isApiError, isWorkspacePath, nearest } from "@virtual-workspaces/apimachinery";
import { isTransportError } from "@virtual-workspaces/transport";
import { readFlags, unknownCommand } from "../flags/read.ts";
import { type Connection, connectionOf } from "../kubectl/connection.ts";
import { Failure, UsageError } from "../process/failure.ts";
import { ExaminedServer } from "./examined-server.ts";
import { EXPORT, type ExaminedExport } from "./export-steps.ts";
import { DOCTOR, USES } from "./flags.ts";
import { type ExaminedMount, MOUNT } from "./mount-steps.ts";
import { CLUSTER_PROXY, type ExaminedProxy } from "./proxy-steps.ts";
import { BEHIND_THE_DOOR, TO_THE_DOOR } from "./server-steps.ts";
import { examine, type StepResult } from "./steps.ts";

const USAGE = `${DOCTOR.program} ${USES}`;

/** Runs `virtual-workspaces doctor`. @returns the exit code @throws UsageError, Failure */
export async function run(args: readonly string[]): Promise<number> {
  const { words, values } = readFlags(args, DOCTOR);
  const { output = "" } = values;
  if (output !== "" && output !== "json") throw new UsageError(`invalid value "${output}" for --output: use json`);
  const tell = output === "json" ? (result: StepResult) => console.log(JSON.stringify(result)) : print;
  // Stop when the reader closes the pipe.
  process.stdout.on("error", () => process.exit(1));
  try {
    return (await examined(words, connectionOf(values), tell)) ? 0 : 1;
  } catch (error) {
    const expected = isApiError(error) || isTransportError(error) || (error as Error).name === "KubeconfigError";
    throw expected ? new Failure((error as Error).message, { cause: error }) : error;
  }
}

type Tell = (result: StepResult) => void;

async function examined(words: readonly string[], connection: Connection, tell: Tell): Promise<boolean> {
  const [subject = "", name, ...more] = words;
  const isPart = PARTS.has(subject);
  if (!isPart && nearest(subject, [...PARTS.keys()]) !== undefined)
    throw new UsageError(unknownCommand(subject, [...PARTS.keys()]));
  if (more.length > 0 || (isPart ? name === undefined : name !== undefined)) throw new UsageError(`usage: ${USAGE}`);
  if (!isPart) {
    await using patient = await ExaminedServer.open(subject === "" ? connection : at(connection, urlOf(subject)));
    return await examine([...TO_THE_DOOR, ...BEHIND_THE_DOOR], patient, tell);
  }
  const [, path, own = ""] = /^(?:(.*):)?([^:]+)$/.exec(name ?? "") ?? [];
  await using patient = await ExaminedServer.open(await placed(connection, path));
  if (patient.workspace === undefined)
    throw new UsageError(`${patient.url} is not a workspace: name one as <path>:${own}`);
  if (!(await examine(TO_THE_DOOR, patient, tell))) return false;
  return (await PARTS.get(subject)?.({ patient, name: own }, tell)) === true;
}

type Examined = { readonly patient: ExaminedServer; readonly name: string };

/** Kinds of objects that doctor can examine in a workspace. */
const PARTS: ReadonlyMap<string, (examined: Examined, tell: Tell) => Promise<boolean>> = new Map([
  ["export", (examined: Examined, tell: Tell) => examine<ExaminedExport>(EXPORT, examined, tell)],
  ["mount", (examined: Examined, tell: Tell) => examine<ExaminedMount>(MOUNT, examined, tell)],
  ["clusterproxy", (examined: Examined, tell: Tell) => examine<ExaminedProxy>(CLUSTER_PROXY, examined, tell)],
]);

/** Returns a connection to a workspace of the same server. */
async function placed(connection: Connection, path: string | undefined): Promise<Connection> {
  if (path === undefined) return connection;
  if (!isWorkspacePath(path))
    throw new UsageError(`invalid workspace path "${path}": use a path such as root:org:team`);
  await using current = await ExaminedServer.open(connection);
  return at(connection, `${current.server.url}/clusters/${path}`);
}

function at(connection: Connection, server: string): Connection {
  const { overrides } = connection;
  return { ...connection, overrides: { ...overrides, cluster: { ...overrides.cluster, server } } };
}

function urlOf(word: string): string {
  if (URL.canParse(word) && /^https?:/.test(word)) return word;
  throw new UsageError(`unexpected argument "${word}": use a URL, export, mount or clusterproxy. Usage: ${USAGE}`);
}

const SIGNS = { ok: "ok      ", failed: "FAILED  ", skipped: "-       " };

function print({ title, result, detail, remedy }: StepResult): void {
  console.log(`${SIGNS[result]}${title}: ${detail}`);
  if (remedy !== undefined) console.log(`        ${remedy}`);
}

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { generatedTls } from "@virtual-workspaces/framework/tls";
import { readFlags } from "../flags/read.ts";
import { UsageError } from "../process/failure.ts";
import { readIfThere } from "../process/files.ts";
import { acquire } from "../process/lock.ts";
import { type StoreChoice, storeChoice } from "../server/store-choice.ts";
import { ADMIN, GUEST } from "./dev-kubeconfig.ts";
import { DEV } from "./flags.ts";
import { Port } from "./port.ts";
import { Publication } from "./publication.ts";
import { Supervisor } from "./supervisor.ts";

interface DevOptions {
  /** Files and folders, absolute. */
  readonly paths: readonly string[];
  /** The state folder, absolute. */
  readonly dir: string;
  /** The port that is tried first, 0 for any free one. */
  readonly port: number;
  readonly quiet: boolean;
  readonly store: StoreChoice;
}

/** How many ports are tried from the first. */
const PORTS = 100;

/** Runs `virtual-workspaces dev`. @returns the exit code @throws UsageError, Failure */
export async function run(args: readonly string[]): Promise<number> {
  const { paths, dir, port: wanted, quiet, store } = devOptions(args);
  const stopped = untilStopped();
  prepare(dir);
  using lock = acquire(dir);
  // At the first start they are made while the modules load.
  const credentials = generatedTls({ dir: resolve(dir), users: [ADMIN, GUEST] });
  let publication: Publication | undefined;
  await using supervisor = new Supervisor({
    paths,
    site: credentials.then(({ tls, ca }) => ({ tls, ca, quiet, store })),
    onReload: ({ loaded, file, milliseconds }) => {
      const news = publication?.reloaded(loaded) ?? "";
      console.log(`Reloaded in ${milliseconds.toFixed(0)} ms: ${basename(file)} changed${news}`);
    },
    onProblem: (problem) => console.error(problem),
  });
  using port = await Port.open(portsFrom(wanted));
  const loaded = await Promise.race([supervisor.start(port), stopped]);
  if (loaded === undefined) return 0;
  const url = `https://127.0.0.1:${port.number}`;
  lock.serves(url);
  publication = new Publication(loaded, { url, dir, credentials: await credentials });
  if (wanted !== 0 && port.number !== wanted) console.log(`Port ${wanted} is taken: using ${port.number}.`);
  console.log(publication.ready(performance.now() / 1000));
  await stopped;
  return 0;
}

/** @throws UsageError */
function devOptions(args: readonly string[]): DevOptions {
  const { values, words } = readFlags(args, DEV);
  if (words.length === 0)
    throw new UsageError(
      "no module given: name one with a view, or a folder of them, as in virtual-workspaces dev ./view.ts",
    );
  const missing = words.find((path) => !existsSync(path));
  if (missing !== undefined) throw new UsageError(`file or folder ${missing} does not exist in ${process.cwd()}`);
  return {
    paths: words.map((path) => resolve(path)),
    dir: values.dir,
    port: portOf(values.port),
    quiet: values.quiet,
    store: storeChoice(values, process.env),
  };
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new UsageError(`invalid value "${text}" for --port: use a number from 1 to 65535, or 0 for any free port`);
  return port;
}

/** The folder is for this machine's eyes: it holds keys. */
function prepare(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const ignore = join(dir, ".gitignore");
  if (readIfThere(ignore) === undefined) writeFileSync(ignore, "*\n");
}

function portsFrom(first: number): readonly number[] {
  if (first === 0) return [0];
  return Array.from({ length: PORTS }, (_, at) => first + at).filter((port) => port <= 65_535);
}

/** Resolves at the first Ctrl-C, or when the process is asked to end. More of the same are ignored: it takes a second at most. */
function untilStopped(): Promise<undefined> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => resolve(undefined));
  });
}
